import type { LanguageModelV3CallOptions, SharedV3Warning } from '@ai-sdk/provider';
import { asFields, asNonEmptyText } from '../shared/fields.ts';
import type { MAILModelSettings } from '../shared/mail-settings.ts';

/** Call settings that a swarm cannot use, because its agents have their own models and settings. */
const unsupported = [
  'maxOutputTokens',
  'temperature',
  'stopSequences',
  'topP',
  'topK',
  'presencePenalty',
  'frequencyPenalty',
  'seed',
] as const;

export function getCallWarnings(
  options: LanguageModelV3CallOptions,
  { breakpointTools, maxSteps }: MAILModelSettings,
  hasToken: boolean,
): SharedV3Warning[] {
  const warnings: SharedV3Warning[] = [];
  const details = 'The agents of a swarm have settings of their own, in swarms.json.';
  for (const feature of unsupported) {
    if (options[feature] !== undefined) warnings.push({ type: 'unsupported', feature, details });
  }
  // ai 7 passes `reasoning` to V3 models too, although the V3 types do not have it.
  const { reasoning = 'provider-default' } = options as { reasoning?: unknown };
  if (reasoning !== 'provider-default') warnings.push({ type: 'unsupported', feature: 'reasoning', details });
  const { responseFormat, toolChoice, tools = [] } = options;
  if (responseFormat?.type === 'json') {
    const ask = 'A swarm answers with text. Request JSON in the prompt.';
    warnings.push({ type: 'unsupported', feature: 'responseFormat', details: ask });
  }
  if (toolChoice !== undefined && toolChoice.type !== 'auto') {
    warnings.push({ type: 'unsupported', feature: 'toolChoice', details: 'The agents choose their own tools.' });
  }
  const callable = new Set([...(breakpointTools ?? []), ...findCalledTools(options.prompt)]);
  for (const tool of tools) {
    if (tool.type === 'function' && callable.has(tool.name)) continue;
    const how =
      'A swarm calls only the breakpoint tools in its swarms.json, which its server does not report. If it has this tool, ' +
      'add the name to the setting breakpointTools; if not, toSwarmActions(tools) writes the block for swarms.json.';
    warnings.push({ type: 'unsupported', feature: `tool ${tool.name}`, details: how });
  }
  if (!hasToken && tools.length > 0) {
    const message =
      'Without a token the swarm can call a tool, but its result cannot be sent: /ui/message does not accept results. ' +
      'Set authToken (or MAIL_API_KEY).';
    warnings.push({ type: 'other', message });
  }
  if (!hasToken && maxSteps !== undefined) {
    warnings.push({
      type: 'unsupported',
      feature: 'maxSteps',
      details: 'Only POST /message accepts it. Set authToken.',
    });
  }
  return warnings;
}

/** Returns the names of the caller's tools that a swarm has called in this conversation. */
function findCalledTools(prompt: LanguageModelV3CallOptions['prompt']): string[] {
  const parts = prompt.flatMap((message) => (message.role === 'assistant' ? message.content : []));
  return parts.flatMap((part) => {
    if (part.type !== 'tool-call' || part.providerExecuted) return [];
    return asNonEmptyText(asFields(part.providerOptions?.mail).taskId) === undefined ? [] : [part.toolName];
  });
}
