"""A real AG-UI server on loopback, that of pydantic-ai, whose model follows scripts: server.py <port>.

The first word of the user's message names the script. The model knows where it is in it from the results that it has.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator

import uvicorn
from ag_ui.core import CustomEvent, EventType, StateDeltaEvent, StateSnapshotEvent
from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, DeferredToolRequests, ModelRetry, RunContext, ToolReturn
from pydantic_ai.messages import ModelMessage, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaThinkingPart, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.ui import StateDeps
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route


def asked(messages: list[ModelMessage]) -> tuple[list, list]:
    """What the user said last, and the results since then."""
    said: list = []
    results: list = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                said = [part.content] if isinstance(part.content, str) else list(part.content)
                results = []
            elif isinstance(part, ToolReturnPart):
                results.append(part.model_response_str())
    return said, results


def call(name: str, *pieces: str, index: int = 0, call_id: str | None = None):
    """A tool call whose arguments come in pieces."""
    call_id = call_id or f"call-{name}"
    yield {index: DeltaToolCall(name=name, json_args=pieces[0], tool_call_id=call_id)}
    for piece in pieces[1:]:
        yield {index: DeltaToolCall(json_args=piece)}


async def script(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator:
    said, results = asked(messages)
    name = next((text for text in said if isinstance(text, str)), "").split(" ")[0]
    if name == "think":
        yield {0: DeltaThinkingPart(content="Hm, ")}
        yield {0: DeltaThinkingPart(content="let me see.")}
        yield "I "
        yield "see."
    elif name == "fail":
        yield "Hel"
        raise RuntimeError("The line went dead.")
    elif name == "slow":
        yield "One "
        await asyncio.sleep(60)
        yield "two."
    elif name == "look":
        files = [part for part in said if isinstance(part, BinaryContent)]
        yield f"I see {', '.join(f'{file.media_type} of {len(file.data)} bytes' for file in files)}."
    elif name in ("weather", "locate", "remove", "count", "break"):
        if results:
            yield f"It says {results[-1]}."
            return
        if name == "weather":
            yield "Let me look. "
        for piece in call(name, *(('{"ci', 'ty":"Paris"}') if name in ("weather", "remove") else ("{}",)), index=1):
            yield piece
    elif name == "both":
        if results:
            yield f"They say {' and '.join(results)}."
            return
        for index, city in enumerate(("Paris", "Rome")):
            for piece in call("weather", json.dumps({"city": city}), index=index, call_id=f"call-{city}"):
                yield piece
    else:
        yield "Hel"
        yield "lo ☃"


class Counted(BaseModel):
    count: int = 0


agent = Agent(
    FunctionModel(stream_function=script),
    deps_type=StateDeps[Counted],
    output_type=[str, DeferredToolRequests],
)


@agent.tool_plain
def weather(city: str) -> dict:
    return {"city": city, "degrees": 21}


@agent.tool_plain(requires_approval=True)
def remove(city: str) -> str:
    return f"{city} is gone"


@agent.tool_plain(retries=1, name="break")
def broken() -> str:
    raise ModelRetry("Not like that.")


@agent.tool
def count(ctx: RunContext[StateDeps[Counted]]) -> ToolReturn:
    """Adds to the state, and says so to the page."""
    ctx.deps.state.count += 1
    patch = [{"op": "replace", "path": "/count", "value": ctx.deps.state.count + 1}]
    return ToolReturn(
        return_value=f"{ctx.deps.state.count}",
        metadata=[
            StateSnapshotEvent(type=EventType.STATE_SNAPSHOT, snapshot=ctx.deps.state.model_dump()),
            StateDeltaEvent(type=EventType.STATE_DELTA, delta=patch),
            CustomEvent(type=EventType.CUSTOM, name="test.counted", value={"by": 1}),
        ],
    )


plain = Agent(TestModel(custom_output_text="All is well."))


@plain.tool_plain
def ping() -> str:
    return "pong"


async def scripted_run(request: Request) -> Response:
    return await AGUIAdapter.dispatch_request(request, agent=agent, deps=StateDeps(Counted()))


async def plain_run(request: Request) -> Response:
    return await AGUIAdapter.dispatch_request(request, agent=plain)


app = Starlette(
    routes=[
        Route("/", lambda _: PlainTextResponse("here")),
        Route("/scripted", scripted_run, methods=["POST"]),
        Route("/plain", plain_run, methods=["POST"]),
    ]
)

uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
