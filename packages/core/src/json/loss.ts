/**
 * A line of the ledger: what did not get through, and why.
 * `unsupported`: the target has no place for it. `withheld`: a policy (reasoning off, internal). `late`: after the end.
 * `repaired`: the input was broken and has been made whole.
 */
export type Loss = { kind: 'unsupported' | 'withheld' | 'late' | 'repaired'; what: string; why: string; id?: string };

export type OnLoss = (loss: Loss) => void;
