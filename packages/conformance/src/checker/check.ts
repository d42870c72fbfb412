import type { Loss, Protocol, Rule } from '@intertie/core';
import type { Violation } from '@intertie/core/internal';

/** A violation together with the sentence and the fix of its rule. */
export type ReportedViolation = Violation & Pick<Rule, 'sentence' | 'fix'>;

export type CheckReport = {
  protocol: string;
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

/** Checks a complete stream against the rules of a protocol. */
export function check(protocol: Protocol, items: Iterable<unknown>): CheckReport {
  const running = createStreamChecker(protocol);
  for (const item of items) running.feed(item);
  return running.end();
}

export function createStreamChecker(protocol: Protocol): StreamChecker {
  const rules = new Map(protocol.rules.map((rule) => [rule.id, rule]));
  const checker = protocol.checker();
  const counts = new Map<string, number>();
  const report: CheckReport = {
    protocol: protocol.name,
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
      if (!rule) throw new Error(`The protocol ${protocol.name} reported the undeclared rule "${id}".`);
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
      const kind = protocol.getKind(item);
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
