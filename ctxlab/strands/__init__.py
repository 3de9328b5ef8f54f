"""Back into the agent: ctxlab's policies as conversation managers of a real Strands agent, and a recorder.

Needs the extra ``ctxlab[strands]`` (strands-agents from 1.43.0 on); nothing else in ctxlab imports the SDK. No rule of
a reduction lives here: what is cut is decided by the policies.
"""

from ctxlab.strands.manager import CtxlabConversationManager, conversation_manager
from ctxlab.strands.recorder import Recorder, record
from ctxlab.strands.scripted import Reply, ScriptedModel

__all__ = ["CtxlabConversationManager", "Recorder", "Reply", "ScriptedModel", "conversation_manager", "record"]
