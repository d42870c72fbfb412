import type { Dialect, Loss, Rule, Violation } from '@intertie/core';

/** A violation with the rule's own words, so that a reader needs no second file. */
export type FoundViolation = Violation & Pick<Rule, 'sentence' | 'fix'>;

export type CheckReport = {
  dialect: string;
  ok: boolean;
  items: number;
  /** How many items of each kind. */
  readonly counts: { [kind: string]: number };
  violations: FoundViolation[];
  losses: Loss[];
};

/** A check that goes on: feed it items as they come and look whenever you like. */
export interface RunningCheck {
  feed(item: unknown): void;
  /** The stream is over; what was owed at its end is reported now. */
  end(): CheckReport;
  readonly report: CheckReport;
}

/** Checks a whole stream against the rules of a dialect. */
export function check(dialect: Dialect, items: Iterable<unknown>): CheckReport {
  const running = startCheck(dialect);
  for (const item of items) running.feed(item);
  return running.end();
}

export function startCheck(dialect: Dialect): RunningCheck {
  const rules = new Map(dialect.rules.map((rule) => [rule.id, rule]));
  const checker = dialect.checker();
  const counts = new Map<string, number>();
  const report: CheckReport = {
    dialect: dialect.name,
    ok: true,
    items: 0,
    // Kinds come from the wire: `constructor` is one like any other.
    get counts() {
      return Object.fromEntries(counts);
    },
    violations: [],
    losses: [],
  };
  const reporter = {
    violation(id: string, message: string, path?: string): void {
      const rule = rules.get(id);
      if (!rule) throw new Error(`The dialect ${dialect.name} reports the rule "${id}", which it does not declare.`);
      const { sentence, fix } = rule;
      report.ok = false;
      report.violations.push({ index: report.items, rule: id, message, ...(path && { path }), sentence, fix });
    },
    loss(loss: Loss): void {
      report.losses.push(loss);
    },
  };
  return {
    report,
    feed(item) {
      const kind = dialect.kindOf(item);
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      checker.feed(item, reporter);
      report.items++;
    },
    end() {
      checker.end(reporter);
      return report;
    },
  };
}
