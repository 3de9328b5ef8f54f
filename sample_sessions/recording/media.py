"""Sessions whose content is not plain English prose: pictures, Chinese, emoji, combining marks."""

from strands import tool
from strands.types.content import ContentBlock

from . import pictures
from .model import Reply, call
from .studio import Studio
from .tools import render_chart, service_status

_GLOSSARY = {
    "parcel": "包裹（货物的最小单位；不要译成“邮件”）",
    "depot": "分拨中心（收货、分拣和发货的地点）",
    "manifest": "装车清单（一辆车上全部包裹的列表，关闭之后不能再改）",
    "pickup": "取件（客户到门店取走包裹，或司机到客户处收走包裹）",
    "label": "面单（贴在包裹上的标签，带条形码）",
}

_NOTES = (
    "译文体例说明：一、界面上的按钮用引号括起来，例如“打印面单”；二、数字与单位之间留一个空格，例如 31 kg；"
    "三、状态用表情符号标出：✅ 已完成，⏳ 等待中，❌ 失败，🚚 运输中，📦 已打包；四、人员角色用组合表情："
    "👩‍💻 开发，👨‍🔧 维修，👩🏽‍🚒 应急；五、地名保留原文拼写，重音符号可能由组合字符写成，例如 Zu\u0308rich、"
    "Ma\u0301laga、São Paulo；六、旗帜由两个字符组成，不能拆开：🇨🇳 🇩🇪 🇧🇷。"
)

_SECTIONS = (
    (
        "Receiving. Scan every parcel when it arrives. If the label cannot be read, print a new one before sorting.",
        "收货 📦。包裹到达时，请逐件扫描。如果面单无法识别，请在分拣之前重新打印。扫描成功后屏幕显示 ✅；显示 ❌ 时，"
        "请检查条形码是否被胶带遮住，然后再扫描一次。",
        "parcel",
    ),
    (
        "Sorting. A parcel belongs to the depot nearest to its address. Heavy parcels (over 31 kg) go to the cage.",
        "分拣。包裹归属于离收件地址最近的分拨中心。超过 31 kg 的重件放入笼车 🛒，不得放上传送带。当班的维修人员 👨‍🔧 "
        "每两小时检查一次传送带。",
        "depot",
    ),
    (
        "Loading. Close the manifest when the van is full. A closed manifest cannot be changed.",
        "装车 🚚。车辆装满之后，请关闭装车清单。已关闭的清单不能修改；"
        "如有遗漏的包裹，请建立新的清单，并在备注中写明原因 ✍️。",
        "manifest",
    ),
    (
        "Pickup. The customer shows the code. After three wrong codes the parcel is locked for an hour.",
        "取件 🏪。客户出示取件码。连续三次输入错误后，包裹锁定一小时 🔒。锁定期间请不要再次尝试，也不要重新打印面单。",
        "pickup",
    ),
    (
        "Faults. If the printer stops, note the time, restart it once, and then call the engineer on duty.",
        "故障处理。打印机停止工作时，请记下时间 🕑，重启一次；仍不正常时，请联系值班工程师 👩‍💻。"
        "紧急情况请找应急小组 👩🏽‍🚒，Zu\u0308rich 与 Ma\u0301laga 的中心另有电话，见附录。",
        "label",
    ),
)


@tool
def look_up_term(term: str) -> str:
    """Look a term up in the glossary, with the notes on style.

    Args:
        term: The English term.
    """
    return f"{term} → {_GLOSSARY[term]}\n\n" + 3 * _NOTES


def images(studio: Studio) -> None:
    """Charts as tool results, and a screenshot that the user sent along with the question."""
    replies = (
        Reply("The screenshot shows the queue of the gateway from midnight on. I draw the two metrics behind it."),
        call("render_chart", metric="gateway.queue_length"),
        call("render_chart", say="And what the carrier answered:", metric="carrier.errors_per_hour"),
        call("service_status", service="gateway"),
        Reply("The queue follows the carrier's errors by about an hour. The gateway itself has no fault."),
        call("render_chart", metric="labels.printed_per_hour"),
        Reply("Printing is level over the day, so the delay is behind it, not before it."),
    )
    agent = studio.agent(
        "incidents",
        replies,
        system_prompt="You read dashboards for the night shift of the parcel desk.",
        tools=(render_chart, service_status),
    )
    screenshot = pictures.bar_chart("screenshot of the night", bars=40, height=48)
    question: list[ContentBlock] = [
        {"text": "This is what the dashboard showed at 02:10. What is it?"},
        {"image": {"format": "png", "source": {"bytes": screenshot}}},
    ]
    agent(question)
    agent("Why did it grow?")
    agent("Could it be the printers?")


def chinese_emoji(studio: Studio) -> None:
    """A handbook is translated into Chinese; the glossary's answers are long enough to be truncated."""
    replies = [
        reply for _, translation, term in _SECTIONS for reply in (call("look_up_term", term=term), Reply(translation))
    ]
    replies.append(
        Reply("好的，全部五节已完成 ✅。术语与术语表一致：包裹、分拨中心、装车清单、取件、面单。祝工作顺利 🎉！")
    )
    agent = studio.agent(
        "translator",
        replies,
        system_prompt="You translate the handbook of the parcel desk into simplified Chinese, by its glossary.",
        tools=(look_up_term,),
    )
    for section, _, _ in _SECTIONS:
        agent(f"请翻译下面这一节：\n\n{section}")
    agent("谢谢 🙏！请确认五节都翻译完了，并列出用到的术语。")


SAMPLES = {"images": images, "chinese-emoji": chinese_emoji}
