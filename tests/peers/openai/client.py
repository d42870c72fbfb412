"""Uses an Intertie server with the openai package: python client.py <url>. Prints one line of JSON."""

import json
import sys

from openai import NotFoundError, OpenAI

client = OpenAI(base_url=sys.argv[1] + '/v1', api_key='none', max_retries=0)
models = [model.id for model in client.models.list()]

for model in models:
    with client.responses.stream(model=model, input='Hello there') as stream:
        types = [event.type for event in stream]
        final = stream.get_final_response()
    assert types[0] == 'response.created' and types[-1] == 'response.completed', types
    assert final.usage is not None, model
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

asked = client.responses.create(model='helper', input='Send an email to Ada')
request = next(item for item in asked.output if item.type == 'mcp_approval_request')
answer = {'type': 'mcp_approval_response', 'approval_request_id': request.id, 'approve': True}
sent = client.responses.create(model='helper', previous_response_id=asked.id, input=[answer])
branch = client.responses.create(model='helper', previous_response_id=asked.id, input='Hello again')

background = client.responses.create(model='helper', input='Write a long answer', background=True)
cancelled = client.responses.cancel(background.id)

try:
    client.responses.create(model='nobody', input='Hello')
    refused = None
except NotFoundError as error:
    refused = error.code

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
            'sent': sent.output_text,
            'background': cancelled.status,
            'refused': refused,
            'items': items[0],
            'deleted': deleted,
        }
    )
)
