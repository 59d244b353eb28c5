import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly target: readonly unknown[]; readonly failureSummary?: string }[];
}

/** Colours are most of the work, and depend on nothing but the styles; all else does not depend on them. */
const COLORS = ['color-contrast', 'link-in-text-block'];
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const without = (rules: readonly string[]) => Object.fromEntries(rules.map((rule) => [rule, { enabled: false }]));
// Moderate at most, so never among what counts here, and slow.
const REGION = 'region';
const OPTIONS = {
  all: { runOnly: TAGS, rules: without([REGION]) },
  colors: { runOnly: { type: 'rule', values: COLORS } },
  structure: { runOnly: TAGS, rules: without([REGION, ...COLORS]) },
};

/** What axe-core finds serious or critical on the page as it is now, one line each. */
export async function findViolations(page: Page, what: keyof typeof OPTIONS = 'all'): Promise<string[]> {
  // Evaluated by the debugger, which the content policy of the page does not concern.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source);
  const violations = await page.evaluate(async (options) => {
    const { axe } = globalThis as unknown as { axe: { run(context: unknown, options: unknown): Promise<unknown> } };
    const { violations: found } = (await axe.run(document, { ...options, resultTypes: ['violations'] })) as {
      violations: Violation[];
    };
    return found.map(({ id, impact, nodes }) => ({
      id,
      impact,
      nodes: nodes.map(({ target, failureSummary }) => ({ target, failureSummary })),
    }));
  }, OPTIONS[what]);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id} at ${target.join(' ')}: ${failureSummary}`),
    );
}
