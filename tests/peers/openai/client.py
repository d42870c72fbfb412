"""Uses an Intertie server with the openai package: python client.py <url>. Prints one line of JSON."""

import json
import sys

from openai import BadRequestError, NotFoundError, OpenAI

client = OpenAI(base_url=sys.argv[1] + '/v1', api_key='none', max_retries=0)
models = [model.id for model in client.models.list()]

for model in models:
    with client.responses.stream(model=model, input='Hello there') as stream:
        types = [event.type for event in stream]
        final = stream.get_final_response()
    assert types[0] == 'response.created' and types[-1] == 'response.completed', types
    assert final.usage is not None, model
    plain = client.responses.create(model=model, input='Hello there')
    assert plain.status == 'completed' and plain.usage is not None, model
    assert client.responses.retrieve(final.id).output_text == final.output_text, model

    events = list(client.responses.retrieve(final.id, stream=True))
    for number in range(len(events)):
        rest = list(client.responses.retrieve(final.id, stream=True, starting_after=number))
        assert rest == events[number + 1 :], (model, number)

    messages = [{'role': 'user', 'content': 'Hello'}]
    chat = client.chat.completions.create(model=model, messages=messages)
    assert chat.choices[0].message.content and chat.usage is not None, model
    chunks = list(client.chat.completions.create(model=model, messages=messages, stream=True))
    assert chunks[-1].choices[0].finish_reason, model

weather = client.responses.create(model='helper', input='What is the weather in Lisbon?')
tools = [item.type for item in weather.output]


def send_email(approve):
    asked = client.responses.create(model='helper', input='Send an email to Ada')
    request = next(item for item in asked.output if item.type == 'mcp_approval_request')
    answer = {'type': 'mcp_approval_response', 'approval_request_id': request.id, 'approve': approve}
    return asked, client.responses.create(model='helper', previous_response_id=asked.id, input=[answer])


asked, sent = send_email(True)
_, denied = send_email(False)
branch = client.responses.create(model='helper', previous_response_id=asked.id, input='Hello again')

function = {'type': 'function', 'name': 'weather', 'parameters': {'type': 'object'}, 'strict': False}
first = client.responses.create(model='caller', input='Call it', tools=[function])
call = next(item for item in first.output if item.type == 'function_call')
output = {'type': 'function_call_output', 'call_id': call.call_id, 'output': 'cold'}
called = client.responses.create(model='caller', input=[output], previous_response_id=first.id)

image = {'type': 'input_image', 'image_url': 'data:image/png;base64,iVBORw==', 'detail': 'auto'}
read = client.responses.create(model='caller', input=[{'role': 'user', 'content': [image]}])
chart = client.responses.create(model='helper', input='Draw a chart')
images = [item.result for item in chart.output if item.type == 'image_generation_call']

background = client.responses.create(model='helper', input='Write a long answer', background=True)
cancelled = client.responses.cancel(background.id)

try:
    client.responses.create(model='nobody', input='Hello')
    refused = None
except NotFoundError as error:
    refused = error.code

try:
    client.responses.create(model='helper', input='Hello', previous_response_id='resp_none')
    unknown = None
except BadRequestError as error:
    unknown = error.code

failed = client.responses.create(model='helper', input='Fail')

items = [item.type for item in client.responses.input_items.list(branch.id)]
client.responses.delete(branch.id)
try:
    client.responses.retrieve(branch.id)
    deleted = False
except NotFoundError:
    deleted = True

print(
    json.dumps(
        {
            'models': models,
            'tools': tools,
            'sent': sent.output_text,
            'denied': denied.output_text,
            'called': called.output_text,
            'read': read.output_text,
            'images': len([result for result in images if result]),
            'background': cancelled.status,
            'refused': refused,
            'unknown': unknown,
            'failed': failed.status,
            'items': items[0],
            'deleted': deleted,
        }
    )
)
