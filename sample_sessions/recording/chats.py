"""Long sessions of short messages: one without a single tool, and one at a help desk that went on all day."""

from strands.agent.conversation_manager import SlidingWindowConversationManager

from . import texts
from .dice import Dice
from .model import Reply, call
from .studio import Studio
from .tools import track_parcel

# A chapter of the handbook, what worries its author, and what the agent makes of it.
_CHAPTERS = (
    ("Opening the depot", "the list has grown to thirty steps", "keep the six that must come first, link the others"),
    ("The morning count", "two people count and get two numbers", "say who counts, and who only signs"),
    ("Scanner batteries", "nobody reads the table of charge levels", "replace it by one rule: below two bars, swap"),
    ("Unreadable labels", "the text blames the printer", "describe what the worker sees, not whose fault it is"),
    ("Parcels without an address", "the procedure differs by depot", "write the common part, then a box per depot"),
    ("Dangerous goods", "the law is quoted in full", "name the four symbols, and point to the law once"),
    ("Heavy parcels", "the limit is given in three units", "kilograms only, as the scale shows it"),
    ("The returns cage", "it is mixed up with the customs cage", "show both on one plan, with their colours"),
    ("Customs papers", "the form changed in spring", "link the form instead of copying its fields"),
    ("Closing a manifest", "people reopen it by calling the office", "say that it stays closed, and name the way out"),
    ("Late vans", "the text starts with exceptions", "start with the usual case: wait ten minutes, then call"),
    ("Double labels", "it happens when the printer is restarted", "add the step that clears the queue before"),
    ("Wet parcels", "photos are asked for but not where to put them", "one sentence: into the ticket, not the chat"),
    ("Lost parcels", "the search has no end", "give it one: after two shifts it is reported as lost"),
    ("Found parcels", "they are scanned as new ones", "warn of it in the first line; it starts a second journey"),
    ("Pickup codes", "workers read them aloud", "say why that is a risk, and offer the screen instead"),
    ("Locked parcels", "the hour of waiting is not explained", "one sentence on guessing, then the waiting time"),
    ("Night shift", "the chapter repeats the day shift", "only what differs: lights, doors, who is on call"),
    ("Power cuts", "the paper forms can't be found", "say in which drawer they are, for each depot"),
    ("Network outage", "scanners keep scanning, and nobody trusts it", "explain that they store up to 2,000 scans"),
    ("Belt stops", "the emergency stop comes on page two", "put it first, in a frame, before the title"),
    ("Cleaning", "the plan is by weekday, the shifts are not", "turn it into a plan by shift"),
    ("Visitors", "the rules are older than the new gate", "drop the signature book, the gate prints a pass"),
    ("First aid", "names go out of date", "name roles, and let the notice board name people"),
    ("Fire drill", "nobody knows who counts heads", "the shift lead counts, with the list of the gate"),
    ("Training week", "five days of text in one chapter", "one page a day, each with three things to try"),
    ("Buddy system", "buddies are not told what to teach", "give them the checklist that the trainee has"),
    ("Shift handover", "it is done by shouting", "three questions on a card: what waits, what broke, who knows"),
    ("Asking for leave", "the deadline is wrong since January", "link the calendar, and leave the date out"),
    ("Complaints", "the tone of the sample letters is cold", "start with what will happen next, then apologize once"),
    ("Damaged goods", "worth and weight are confused", "two lines, two examples, and the form number"),
    ("Insurance", "everyone asks the office anyway", "say so: fill in the form, the office does the rest"),
    ("Tariff zones", "the map is unreadable in print", "a table by postcode, and the map online only"),
    ("Peak season", "it is written as an appeal", "turn it into numbers: vans, shifts, breaks"),
    ("Breaks", "the rule is at the end of a long section", "its own page; people look for it"),
    ("Forklift", "the chapter allows what the licence forbids", "only the licence decides, in the first line"),
    ("Waste", "colours of the bins are missing", "add the colours, and the word on the lid"),
    ("Closing the depot", "the alarm is armed before the last check", "swap the two steps, and number them"),
    ("Glossary", "words are explained with other words of it", "one sentence each, with no second term inside"),
    ("Index", "it was made by hand", "leave it out; the search finds more"),
)
_OPENINGS = (
    "Next chapter: “{}”. My trouble with it: {}.",
    "On to “{}”. The reviewers say that {}.",
    "Now “{}”. Honestly, {}.",
    "“{}” is next. I noticed that {}.",
)
_ANSWERS = (
    "For “{}” I would go one way: {}. That takes a third off the page, and what is left can be read standing up.",
    "My proposal for “{}”: {}. If somebody objects, ask which sentence they have used in the last month.",
    "“{}” gets better with less: {}. I would keep the old text for one release, in the archive.",
    "Then in “{}”: {}. Try it with somebody who started this week, and change what they stumble over.",
)

_QUESTIONS = (
    "Where is {}?",
    "{}, please. The customer is on the phone.",
    "Can you find {} for me?",
    "Status of {}?",
    "Somebody asks for {} again.",
)
_ADVICE = {
    "on the belt": ("it is being sorted, and leaves tonight.", "it has reached the depot; ask again in the evening."),
    "in the returns cage": ("it is on its way back, please check the address.", "it was refused at the door."),
    "on the van": ("it comes today.", "the driver has it, so the shop can't hold it any more."),
    "at the customs desk": ("a form is missing, the office has written to them.", "customs has it; two days, usually."),
    "at the shop": ("it waits at the shop, they need the code.", "it can be collected until eight."),
}


def _advice(reference: str, dice: Dice) -> str:
    _, place, _ = texts.whereabouts(reference)
    return dice.pick(_ADVICE[place])


def plain_chat(studio: Studio) -> None:
    """Eighty messages about a handbook, with no tool and no mass anywhere: just long."""
    dice = Dice("plain chat")
    prompts = [dice.pick(_OPENINGS).format(title, trouble) for title, trouble, _ in _CHAPTERS]
    replies = [Reply(dice.pick(_ANSWERS).format(title, advice)) for title, _, advice in _CHAPTERS]
    agent = studio.agent("editor", replies, system_prompt="You edit the handbook of the parcel desk, briefly.")
    for prompt in prompts:
        agent(prompt)


def thousand_messages(studio: Studio) -> None:
    """A day at the help desk, 260 questions and 1,040 messages, of which a window of 40 leaves the last forty live."""
    dice = Dice("help desk")
    references = [f"PX-{dice.between(10000, 99999)}" for _ in range(260)]
    replies = [
        reply
        for reference in references
        for reply in (call("track_parcel", reference=reference), Reply(f"{reference}: {_advice(reference, dice)}"))
    ]
    agent = studio.agent(
        "help-desk",
        replies,
        system_prompt="You answer the phone desk. One sentence.",
        tools=(track_parcel,),
        manager=SlidingWindowConversationManager(window_size=40),
    )
    for reference in references:
        agent(dice.pick(_QUESTIONS).format(reference))


SAMPLES = {"plain-chat": plain_chat, "thousand-messages": thousand_messages}
