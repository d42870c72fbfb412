import type { CanonicalMessage, DurableAgent, MessagePart, RunRecord } from '@intertie/core';
import { toPlainText, type Turn } from './read-input.ts';

/** Maximum number of runs that are compared with a history. Runs with the same key differ only in their answers. */
const maxCandidates = 20;

/**
 * Computes the key under which a run can be found by clients that send whole histories without ids. It covers only the texts of the
 * user: they are known when the run starts, so the key is stored in the same step. Answers are compared when a run is searched.
 */
export function getBranchKey(turns: readonly Turn[]): Promise<string> {
  return hash(turns.map(({ user }) => normalize(toPlainText(user))));
}

/** Finds the run whose branch has the same texts as the given turns. The answer of the last turn may be incomplete. */
export async function findBranch(
  agent: DurableAgent,
  turns: readonly Turn[],
  { isAnswered }: { isAnswered: boolean },
): Promise<RunRecord | undefined> {
  const { registry, scope } = agent.store;
  const query = { agent: agent.name, branchKey: await getBranchKey(turns), limit: maxCandidates };
  for (const run of await registry.listBranchRuns(scope, query)) {
    const { threadId, messageId } = run;
    const branch = await agent.store.listMessages({ threadId, leafId: messageId });
    if (isSameBranch(branch, turns, isAnswered)) return run;
  }
  return undefined;
}

function isSameBranch(branch: readonly CanonicalMessage[], turns: readonly Turn[], isAnswered: boolean): boolean {
  const stored: Array<{ user: string; assistant: string }> = [];
  for (const { role, content } of branch) {
    const text = getPublicText(content.parts);
    const last = stored.at(-1);
    if (role === 'user') stored.push({ user: text, assistant: '' });
    else if (last) last.assistant += text;
  }
  return (
    stored.length === turns.length &&
    turns.every(({ user, assistant }, index) => {
      const { user: storedUser, assistant: storedAssistant } = stored[index]!;
      const isOpen = !isAnswered && index === turns.length - 1;
      return (
        normalize(toPlainText(user)) === normalize(storedUser) &&
        (isOpen || removeSpace(assistant.join('')) === removeSpace(storedAssistant))
      );
    })
  );
}

function getPublicText(parts: readonly MessagePart[]): string {
  return parts.flatMap((part) => (part.type === 'text' && !part.internal ? [part.text] : [])).join(' ');
}

/**
 * Imports a history that no run of the store has. Ids depend only on the texts, so an edit of the same history finds it again.
 * Returns the last message, which the new one follows.
 */
export async function importTurns(
  { store, name }: DurableAgent,
  turns: readonly Turn[],
  { isHidden }: { isHidden: boolean },
): Promise<{ threadId: string; parentId: string }> {
  const texts = turns.map(({ user, assistant }) => [toPlainText(user), ...assistant]);
  const threadId = `import-${(await hash([name, texts])).slice(0, 32)}`;
  const contents: Array<Pick<CanonicalMessage, 'role'> & { parts: MessagePart[] }> = turns.flatMap((turn) => [
    ...(turn.user.length > 0 ? [{ role: 'user' as const, parts: turn.user }] : []),
    ...(turn.assistant.length > 0 ? [{ role: 'assistant' as const, parts: toTextParts(turn.assistant) }] : []),
  ]);
  const parentId = `${threadId}-${contents.length - 1}`;
  if ((await store.getMessage({ threadId, messageId: parentId })) === null) {
    const messages = contents.map(({ role, parts }, index) => ({
      id: `${threadId}-${index}`,
      threadId,
      role,
      type: 'text' as const,
      createdAt: new Date(),
      content: { format: 2 as const, parts },
    }));
    if (isHidden) await store.saveThread({ thread: { id: threadId, hidden: true } });
    await store.saveMessages({ messages });
  }
  return { threadId, parentId };
}

function toTextParts(texts: readonly string[]): MessagePart[] {
  return texts.map((text) => ({ type: 'text', text }));
}

/** Clients change white space when they store a message. */
function normalize(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** Clients also join the texts of an answer in different ways. */
function removeSpace(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

async function hash(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  const digest = new Uint8Array(await globalThis.crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
