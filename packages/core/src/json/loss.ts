/**
 * Information that was lost, with the reason. `unsupported`: the target cannot represent it. `withheld`: a policy, such as hidden
 * reasoning. `late`: it arrived after the end. `repaired`: the input was invalid and was corrected or dropped.
 */
export type Loss = { kind: 'unsupported' | 'withheld' | 'late' | 'repaired'; what: string; why: string; id?: string };

/** Receives the losses of a conversion. */
export type OnLoss = (loss: Loss) => void;
