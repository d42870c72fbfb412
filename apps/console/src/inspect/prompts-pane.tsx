import './inspect.css';
import './prompts/prompts.css';
import type { AgentEvent } from '@intertie/core';
import { useEffect, useState, type ReactNode } from 'react';
import { api, formatError, type ModelCallInfo } from '../api.ts';
import type { PaneProps } from '../inspect-types.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { JsonView } from '../ui/json-view.tsx';
import { createCallProgram } from './prompts/call-as-program.ts';
import { formatCost, formatUsage } from './prompts/format-usage.ts';
import { PromptMessage } from './prompts/prompt-message.tsx';
import { RunAgain } from './prompts/run-again.tsx';
import { useFold, type EventFold } from './use-fold.ts';

const renderIntervalMs = 500;

const usageTitle = 'Tokens sent to the model and received from it, and their cost';

/** Counts the events after which the recorded calls have changed, and finds the message that the run answers. */
class CallProgress implements EventFold {
  count = 0;
  version = 0;
  parentMessageId: string | undefined;

  feed(event: AgentEvent): void {
    this.count += 1;
    if (event.type === 'run-start') this.parentMessageId = event.parentMessageId;
    if (/^(run|step)-/.test(event.type)) this.version += 1;
  }
}

const createProgress = (): CallProgress => new CallProgress();

/** What each step of a run sent to the model: messages, tools and settings, with usage and cost. */
export function PromptsPane({ threadId, runId, agent, events, onRunAgain }: PaneProps): ReactNode {
  const { fold } = useFold(events, createProgress, renderIntervalMs);
  const { version, parentMessageId } = fold;
  const { calls, error } = useModelCalls(runId, threadId, version);
  const [isRunningAgain, setRunningAgain] = useState(false);
  if (runId === undefined || threadId === '')
    return <p className="empty">Send a message to see what the model is sent.</p>;
  return (
    <div className="prompts" tabIndex={-1}>
      <div className="prompts-bar">
        <span title={usageTitle}>{calls && summarize(calls)}</span>
        <span className="grow" />
        {parentMessageId !== undefined && (
          <Button
            icon="branch"
            aria-expanded={isRunningAgain}
            title="Sends the message again with another text or agent, as a branch of the thread"
            onClick={() => setRunningAgain(!isRunningAgain)}
          >
            Run again with a change
          </Button>
        )}
      </div>
      {isRunningAgain && parentMessageId !== undefined && (
        <RunAgain
          key={parentMessageId}
          threadId={threadId}
          messageId={parentMessageId}
          agent={agent}
          onRunAgain={onRunAgain}
          onClose={() => setRunningAgain(false)}
        />
      )}
      {error !== undefined && <p className="empty">{error}</p>}
      {calls?.length === 0 && <p className="empty">The run has not called a model.</p>}
      {calls?.map((call, index) => (
        <Call key={`${runId} ${index}`} call={call} index={index} isOpen={index === calls.length - 1} />
      ))}
    </div>
  );
}

function Call({ call, index, isOpen }: { call: ModelCallInfo; index: number; isOpen: boolean }): ReactNode {
  const { kind, model, usage, costUsd, error, prompt, tools, settings } = call;
  const [copied, setCopied] = useState<string>();
  const copy = async (name: string, text: string): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(`${name} copied.`);
  };
  return (
    <details className="fold prompt-call" open={isOpen}>
      <summary>
        <Icon name="chevron" />
        <b>{kind === 'model' ? `Call ${index + 1}` : 'Input'}</b>
        <code>{model}</code>
        <span className="grow" />
        {error !== undefined && <span className="tag bad">failed</span>}
        <span className="usage" title={usageTitle}>
          {usage && formatUsage(usage)}
          {costUsd !== undefined && ` · ${formatCost(costUsd)}`}
        </span>
      </summary>
      {error !== undefined && <p className="problem">{error}</p>}
      {kind === 'input' && (
        <p className="note">This runtime calls its models itself. These messages were sent to the runtime.</p>
      )}
      {prompt.map((message, position) => (
        <PromptMessage key={position} message={message} />
      ))}
      {tools.length > 0 && (
        <details className="fold prompt-list">
          <summary>
            <Icon name="chevron" />
            {tools.length} {tools.length === 1 ? 'tool' : 'tools'}
          </summary>
          {tools.map((tool, position) => (
            <JsonView key={position} label={getToolLabel(tool)} value={tool} />
          ))}
        </details>
      )}
      {Object.keys(settings).length > 0 && (
        <details className="fold prompt-list">
          <summary>
            <Icon name="chevron" />
            Settings
          </summary>
          <JsonView label="Settings" value={settings} />
        </details>
      )}
      <div className="prompt-actions">
        {kind === 'model' && (
          <Button
            variant="quiet"
            icon="copy"
            title="Copies a TypeScript program that repeats this call with the AI SDK"
            onClick={() => void copy('Program', createCallProgram(call))}
          >
            Copy as program
          </Button>
        )}
        <Button
          variant="quiet"
          icon="copy"
          onClick={() => void copy('JSON', JSON.stringify({ model, prompt, tools, settings }, undefined, 2))}
        >
          Copy as JSON
        </Button>
        <span role="status">{copied}</span>
      </div>
    </details>
  );
}

/** Reads the calls of a run, again whenever `version` changes. */
function useModelCalls(
  runId: string | undefined,
  threadId: string,
  version: number,
): { calls?: readonly ModelCallInfo[]; error?: string } {
  const [state, setState] = useState<{ runId?: string; calls?: readonly ModelCallInfo[]; error?: string }>({});
  useEffect(() => {
    if (runId === undefined || threadId === '' || version === 0) return undefined;
    let isCurrent = true;
    api.modelCalls(runId, threadId).then(
      ({ calls }) => isCurrent && setState({ runId, calls }),
      (error: unknown) => isCurrent && setState({ runId, error: formatError(error) }),
    );
    return () => void (isCurrent = false);
  }, [runId, threadId, version]);
  return state.runId === runId ? state : {};
}

function summarize(calls: readonly ModelCallInfo[]): string {
  const made = calls.filter(({ kind }) => kind === 'model');
  if (made.length === 0) return '';
  const total = (count: 'inputTokens' | 'outputTokens'): number =>
    made.reduce((sum, { usage }) => sum + (usage?.[count] ?? 0), 0);
  const costs = made.flatMap(({ costUsd }) => costUsd ?? []);
  const parts = [
    `${made.length} ${made.length === 1 ? 'model call' : 'model calls'}`,
    formatUsage({ inputTokens: total('inputTokens'), outputTokens: total('outputTokens') }),
    costs.length > 0 && formatCost(costs.reduce((sum, cost) => sum + cost, 0)),
  ];
  return parts.filter(Boolean).join(' · ');
}

function getToolLabel(tool: unknown): string {
  const { name } = (tool ?? {}) as { name?: unknown };
  return typeof name === 'string' ? name : 'Tool';
}
