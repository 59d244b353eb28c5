import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './scripts/lib/reporter.ts';
import { Sequencer } from './scripts/lib/sequencer.ts';

// The packages offer their TypeScript sources under `source`, so that tests need no build of what they import. The
// others are Vite's defaults for a server, which this list replaces.
const conditions = ['source', 'module', 'node', 'development|production'];

/** Those that replace modules: `npm run check` sees to it that no others do. */
const MOCKED = 'packages/*/{src,test}/**/*.mocked.test.ts';
const globalSetup = ['packages/server/test/harness/template.ts'];
/** `npm run test:long` tries what is random so many times more. */
const EFFORT = Number(process.env.TEST_EFFORT ?? 1);
const exclude = ['**/node_modules/**', '**/dist/**'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['{packages,compat,examples,scripts}/**/*.test.ts'],
          exclude: [...exclude, MOCKED],
          globalSetup,
          // They share what they have loaded, which takes longer than most of them; none of them changes it.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: [MOCKED],
          exclude,
          globalSetup,
        },
      },
    ],
    pool: 'forks',
    // More than the cores of a small machine: fault tests mostly wait.
    maxWorkers: 4,
    sequence: { sequencer: Sequencer },
    testTimeout: 60_000 * EFFORT,
    hookTimeout: 60_000,
    allowOnly: false,
    reporters: ['default', new SummaryReporter()],
  },
});
