"""Calls an agent with the client of a2a-sdk, and prints what it received as JSON.

client.py tour <url> <binding>               all operations, with the demo model
client.py ask <url> <binding>                one question to any agent: sent, streamed, read again
client.py leave <url> <binding> <count>      the first items of a stream, whose connection is then closed
client.py subscribe <url> <binding> <task>   the rest of a task
"""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client import ClientConfig, create_client
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    SendMessageRequest,
    SubscribeToTaskRequest,
)
from google.protobuf.json_format import MessageToDict, ParseDict


def to_request(parts, **fields):
    message = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": parts, **fields}
    return ParseDict({"message": message}, SendMessageRequest())


async def collect(events):
    return [MessageToDict(event) async for event in events]


def fold(items):
    """Applies the items of a stream to the task at its beginning."""
    task = dict(items[0]["task"])
    artifacts = {each["artifactId"]: list(each["parts"]) for each in task.get("artifacts", [])}
    for item in items[1:]:
        if "statusUpdate" in item:
            task["status"] = item["statusUpdate"]["status"]
        if "artifactUpdate" in item:
            update = item["artifactUpdate"]
            artifact = update["artifact"]
            known = artifacts.get(artifact["artifactId"], []) if update.get("append") else []
            artifacts[artifact["artifactId"]] = known + artifact["parts"]
    texts = [part.get("text", "") for parts in artifacts.values() for part in parts]
    return {"id": task["id"], "state": task["status"]["state"], "text": "".join(texts), "status": task["status"]}


def summarize(task):
    return fold([{"task": MessageToDict(task)}])


async def get_error(call):
    try:
        await call
    except Exception as error:
        return type(error).__name__
    return None


def connect(url, binding, streaming=True):
    http = httpx.AsyncClient(timeout=60)
    config = ClientConfig(
        streaming=streaming,
        httpx_client=http,
        supported_protocol_bindings=[binding],
        use_client_preference=True,
    )
    return create_client(url, config)


async def approve_all(client, task):
    """Answers until the task does not wait for input."""
    while task["state"] == "TASK_STATE_INPUT_REQUIRED":
        questions = [part["data"]["questionId"] for part in task["status"]["message"]["parts"] if "data" in part]
        answers = [{"data": {"questionId": each, "approved": True}} for each in questions]
        task = fold(await collect(client.send_message(to_request(answers, taskId=task["id"]))))
    return task


async def ask(url, binding):
    client = await connect(url, binding)
    blocking = await connect(url, binding, streaming=False)
    request = [{"text": "What is the weather in Lisbon?"}]
    sent = await approve_all(blocking, fold(await collect(blocking.send_message(to_request(request)))))
    streamed = await approve_all(client, fold(await collect(client.send_message(to_request(request)))))
    got = summarize(await client.get_task(GetTaskRequest(id=streamed["id"])))
    listed = await client.list_tasks(ListTasksRequest(page_size=50))
    return {"sent": sent, "streamed": streamed, "got": got, "listed": [task.id for task in listed.tasks]}


async def leave(url, binding, count):
    client = await connect(url, binding)
    items = []
    async for event in client.send_message(to_request([{"text": "Write a long answer"}])):
        items.append(MessageToDict(event))
        if len(items) == int(count):
            break
    return fold(items)


async def subscribe(url, binding, task):
    client = await connect(url, binding)
    return fold(await collect(client.subscribe(SubscribeToTaskRequest(id=task))))


async def tour(url, binding):
    client = await connect(url, binding)
    blocking = await connect(url, binding, streaming=False)
    results = {}

    streamed = fold(await collect(client.send_message(to_request([{"text": "What is the weather in Lisbon?"}]))))
    results["streamed"] = streamed
    results["sent"] = fold(await collect(blocking.send_message(to_request([{"text": "What is the weather in Lisbon?"}]))))
    results["got"] = summarize(await client.get_task(GetTaskRequest(id=streamed["id"])))
    listed = await client.list_tasks(ListTasksRequest(page_size=2))
    results["listed"] = len(listed.tasks)

    asked = fold(await collect(client.send_message(to_request([{"text": "Send an email to Ada"}]))))
    results["asked"] = asked
    waiting = []
    async for event in client.subscribe(SubscribeToTaskRequest(id=asked["id"])):
        waiting.append(MessageToDict(event))
        if len(waiting) == 1:
            [question] = [part["data"] for part in asked["status"]["message"]["parts"] if "data" in part]
            answer = {"data": {"questionId": question["questionId"], "approved": True}}
            results["answered"] = fold(await collect(blocking.send_message(to_request([answer], taskId=asked["id"]))))
    results["subscribedFirst"] = waiting[0]["task"]["status"]["state"]
    results["subscribed"] = fold(waiting)

    again = fold(await collect(client.send_message(to_request([{"text": "Send an email to Ada"}]))))
    results["text"] = fold(await collect(client.send_message(to_request([{"text": "no"}], taskId=again["id"]))))
    third = fold(await collect(client.send_message(to_request([{"text": "Send an email to Ada"}]))))
    results["canceled"] = summarize(await client.cancel_task(CancelTaskRequest(id=third["id"])))
    results["errors"] = {
        "unknown": await get_error(client.get_task(GetTaskRequest(id="unknown"))),
        "ended": await get_error(client.cancel_task(CancelTaskRequest(id=streamed["id"]))),
        "more": await get_error(collect(client.send_message(to_request([{"text": "x"}], taskId=streamed["id"])))),
        "subscribe": await get_error(collect(client.subscribe(SubscribeToTaskRequest(id=streamed["id"])))),
    }
    file = [{"text": "Draw a chart"}, {"raw": "QSBub3Rl", "mediaType": "text/plain", "filename": "note.txt"}]
    items = await collect(client.send_message(to_request(file)))
    parts = [p for i in items if "artifactUpdate" in i for p in i["artifactUpdate"]["artifact"]["parts"]]
    results["files"] = [part["mediaType"] for part in parts if "raw" in part]
    return results


async def main(command, *args):
    commands = {"tour": tour, "ask": ask, "leave": leave, "subscribe": subscribe}
    print(json.dumps(await commands[command](*args)))


asyncio.run(main(*sys.argv[1:]))
