"""A real MAIL server on loopback whose agents follow scripts instead of asking a model: swarm.py <port> <auth port>.

The first word of the user's message names the script. An agent knows where it is in it from its own history.
"""

import asyncio
import json
import os
import re
import sys
import tempfile
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, AUTH_PORT = int(sys.argv[1]), int(sys.argv[2])
os.environ["AUTH_ENDPOINT"] = f"http://127.0.0.1:{AUTH_PORT}/login"
os.environ["TOKEN_INFO_ENDPOINT"] = f"http://127.0.0.1:{AUTH_PORT}/token-info"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

# The server reads the protocol version from a pyproject.toml in its working directory, and writes files there.
os.chdir(tempfile.mkdtemp(prefix="intertie-mail-"))
with open("pyproject.toml", "w") as file:
    file.write('[project]\nname = "scripted"\nversion = "1.3.6"\n')

from mail.api import MAILAction, MAILAgentTemplate, MAILSwarmTemplate  # noqa: E402
from mail.core.tools import AgentToolCall  # noqa: E402
from mail.server import run_server_with_template  # noqa: E402


class Auth(BaseHTTPRequestHandler):
    """The service that the server asks about keys. The key "wrong" is nobody's; any other is a user of that name."""

    def answer(self):
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        known = key not in ("", "wrong")
        body = json.dumps({"token": key, "role": "user", "id": key, "api_key": key} if known else {}).encode()
        self.send_response(200 if known else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


def call(name, reasoning=None, preamble=None, call_id=None, **args):
    """One tool call, as the Responses API would have it."""
    call_id = call_id or f"call_{uuid.uuid4().hex[:8]}"
    item = {"type": "function_call", "call_id": call_id, "id": f"fc_{call_id}", "name": name}
    item |= {"arguments": json.dumps(args), "status": "completed"}
    thought = [reasoning] if reasoning else None
    return AgentToolCall(
        tool_name=name, tool_args=args, tool_call_id=call_id, responses=[item], reasoning=thought, preamble=preamble
    )


def received(history):
    """The messages that the agent got: (type of the sender, sender, subject, body)."""
    pattern = r'<from type="(\w+)">(.*?)</from>.*?<subject>(.*?)</subject>\s*<body>(.*?)</body>'
    texts = [str(item.get("content", "")) for item in history if isinstance(item, dict) and item.get("role") == "user"]
    return [match for text in texts for match in re.findall(pattern, text, re.DOTALL)]


def results(history):
    """What the client answered to breakpoint tools."""
    return {
        item["call_id"]: item["output"]
        for item in history
        if isinstance(item, dict)
        and item.get("type") == "function_call_output"
        and item.get("call_id", "").startswith("bp-")
    }


async def supervisor(history):
    inbox = received(history)
    asked = [index for index, (kind, *_) in enumerate(inbox) if kind in ("user", "admin")]
    words = inbox[asked[-1]][3].split()
    replies = [body for kind, _, _, body in inbox[asked[-1] + 1 :] if kind == "agent"]
    errors = [subject for kind, _, subject, _ in inbox[asked[-1] + 1 :] if subject == "::agent_error::"]
    answers = results(history)
    script = words[0]
    if script == "simple":
        text = f"turn {len(asked)}: {' '.join(words[1:])}/ok ☃"
        return [call("task_complete", finish_message=text, reasoning="It is simple.", preamble="I will finish.")]
    if script == "slow":
        await asyncio.sleep(float(words[1]))
        return [call("task_complete", finish_message="slow and done")]
    if script == "delegate":
        if replies:
            return [call("task_complete", finish_message=f"It is {replies[-1]}")]
        return [call("send_request", target="weather-agent", subject="Weather", body="Tokyo?", reasoning="I ask.")]
    if script == "parallel":
        if len(replies) >= 2:
            return [call("task_complete", finish_message=" and ".join(sorted(replies)))]
        if replies:
            return [call("await_message", reason="one more")]
        return [
            call("send_request", target="math", subject="A", body="one", reasoning="fan out"),
            call("send_request", target="math", subject="B", body="two"),
        ]
    if script == "ask":
        if answers:
            return [call("task_complete", finish_message=f"You said {answers['bp-1']}")]
        return [call("ask_user", call_id="bp-1", question="Which city?", reasoning="I must ask.")]
    if script == "both":
        if answers:
            return [call("task_complete", finish_message=f"{answers['bp-a']} {answers['bp-b']}")]
        return [call("ask_user", call_id="bp-a", question="Q"), call("client_tool", call_id="bp-b", n=2)]
    if script == "recover":
        if errors:
            return [call("task_complete", finish_message="recovered")]
        return [call("send_request", target="math", subject="x", body="raise")]
    raise RuntimeError("completion failed after 5 retries")


async def weather(history):
    kind, _, subject, _ = received(history)[-1]
    if kind == "system" and subject == "::action_complete::":
        return [call("send_response", target="supervisor", subject="Re", body="sunny")]
    return [call("get_weather", city="Tokyo")]


async def math(history):
    body = received(history)[-1][3]
    if body == "raise":
        raise RuntimeError("rate limit")
    return [call("send_response", target="supervisor", subject="Re", body=f"{body}!")]


def factory_of(script):
    def factory(**_):
        async def agent(history, tool_choice="required"):
            return None, await script(history)

        return agent

    return factory


async def get_weather(args):
    return json.dumps({"city": args["city"], "sky": "sunny/20C"})


def action(name, function=get_weather):
    return MAILAction(name, name, {"type": "object", "properties": {}}, function)


def agent(name, script, targets, actions, lead=False):
    return MAILAgentTemplate(
        name=name,
        factory=factory_of(script),
        comm_targets=targets,
        actions=actions,
        agent_params={},
        enable_entrypoint=lead,
        can_complete_tasks=lead,
    )


ask, client, look = action("ask_user"), action("client_tool"), action("get_weather")
template = MAILSwarmTemplate(
    name="scripted",
    version="1.3.6",
    entrypoint="supervisor",
    actions=[ask, client, look],
    breakpoint_tools=["ask_user", "client_tool"],
    agents=[
        agent("supervisor", supervisor, ["weather-agent", "math"], [ask, client], lead=True),
        agent("weather-agent", weather, ["supervisor"], [look]),
        agent("math", math, ["supervisor"], []),
    ],
)

threading.Thread(target=ThreadingHTTPServer(("127.0.0.1", AUTH_PORT), Auth).serve_forever, daemon=True).start()
run_server_with_template(template, port=PORT, host="127.0.0.1", print_llm_streams=False)
