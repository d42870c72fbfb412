import type { OnLoss } from '@intertie/core';

/** The ledger of whoever uses us. One that throws stops the run and hears nothing more: the run could not be ended otherwise. */
export function guardLoss(onLoss: OnLoss = () => undefined): OnLoss {
  let hasThrown = false;
  return (loss) => {
    if (hasThrown) return;
    try {
      onLoss(loss);
    } catch (error) {
      hasThrown = true;
      throw error;
    }
  };
}
