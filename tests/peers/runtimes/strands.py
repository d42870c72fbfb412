"""An agent of Strands behind ag-ui-strands, like the programs of docs/runtimes."""

import os

import uvicorn
from ag_ui_strands import StrandsAgent, create_strands_app
from strands import Agent, tool
from strands.models.openai import OpenAIModel


@tool
def weather(city: str) -> dict:
    """Returns the weather of a city."""
    return {"city": city, "degrees": 21}


agent = Agent(model=OpenAIModel(model_id="gpt-4.1-mini"), tools=[weather])
app = create_strands_app(StrandsAgent(agent=agent, name="assistant"), path="/agent")

if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ.get("PORT", "8000")))
