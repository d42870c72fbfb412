import type { Dialect, Loss, Rule } from '@intertie/core';
import type { Violation } from '@intertie/core/internal';

/** A violation together with the sentence and the fix of its rule. */
export type ReportedViolation = Violation & Pick<Rule, 'sentence' | 'fix'>;

export type CheckReport = {
  dialect: string;
  ok: boolean;
  items: number;
  /** Number of items per kind. */
  readonly counts: { [kind: string]: number };
  violations: ReportedViolation[];
  losses: Loss[];
};

/** Incremental check of a stream that has not ended. `report` is valid at any time. */
export interface StreamChecker {
  feed(item: unknown): void;
  /** Ends the stream and reports the rules that it leaves unmet, such as a missing `run-end`. */
  end(): CheckReport;
  readonly report: CheckReport;
}

/** Checks a complete stream against the rules of a dialect. */
export function check(dialect: Dialect, items: Iterable<unknown>): CheckReport {
  const running = createStreamChecker(dialect);
  for (const item of items) running.feed(item);
  return running.end();
}

export function createStreamChecker(dialect: Dialect): StreamChecker {
  const rules = new Map(dialect.rules.map((rule) => [rule.id, rule]));
  const checker = dialect.checker();
  const counts = new Map<string, number>();
  const report: CheckReport = {
    dialect: dialect.name,
    ok: true,
    items: 0,
    // A map, because kinds come from the wire and may be named `constructor`.
    get counts() {
      return Object.fromEntries(counts);
    },
    violations: [],
    losses: [],
  };
  const reporter = {
    violation(id: string, message: string, path?: string): void {
      const rule = rules.get(id);
      if (!rule) throw new Error(`The dialect ${dialect.name} reported the undeclared rule "${id}".`);
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
      const kind = dialect.getKind(item);
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
