import cluster from 'node:cluster';
import { setFlagsFromString } from 'node:v8';
import { launchKeyring } from '@custos/keyring/launch';
import { keyringAhead } from './config/keyring-settings.ts';
import { fail } from './exit.ts';
import { StartError } from './lib/start-error.ts';
import { VERSION } from './lib/version.ts';

// The entry of the service. It loads little, so that the keyring process can start at once; the rest is loaded beside it
// (docs/decisions/0051).

/**
 * Node would let its memory grow to several times what is in use before it collects, in a burst of large requests too.
 */
const HEAP_GROWING_PERCENT = 50;

/**
 * What a start makes is there to stay, so that more room for what is thrown away would only remain empty behind it. The
 * room grows again as soon as requests need it.
 */
const GROWTH_WHILE_STARTING = 1;
const GROWTH = 2;

const HELP = `Custos ${VERSION}: key management and wallet custody behind one stamped JSON API.

Usage: node packages/server/dist/main.js [--help] [--version]

It takes its settings from environment variables, listed in docs/reference/settings.md. The most common ones:
  CUSTOS_DATA_DIR       where it keeps its data (default ./data)
  CUSTOS_HOST           the address it listens on (default 127.0.0.1)
  CUSTOS_PORT           the port it listens on (default 8080; 0 picks a free one)
  CUSTOS_DATABASE_URL   a PostgreSQL database to use instead of SQLite

\`npx custos --help\` lists the commands that operate it.
`;

async function main(): Promise<void> {
  const text = answerTo(process.argv.slice(2));
  if (text !== undefined) {
    process.stdout.write(text);
    return;
  }
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
  setFlagsFromString(`--semi-space-growth-factor=${GROWTH_WHILE_STARTING}`);
  // Whatever this process and its keyring write is for their own user alone.
  process.umask(0o077);
  const ahead = keyringAhead(process.env, cluster.isPrimary);
  const launched = ahead && launchKeyring(ahead.rootKey, ahead);
  try {
    const { run } = await import('./run.ts');
    await run(launched);
    setFlagsFromString(`--semi-space-growth-factor=${GROWTH}`);
  } catch (error) {
    launched?.close();
    throw error;
  }
}

/** What the arguments ask for instead of a start. */
function answerTo(args: readonly string[]): string | undefined {
  for (const argument of args) {
    if (argument === '--version') return `${VERSION}\n`;
    if (argument === '--help' || argument === '-h') return HELP;
    throw new StartError(`unknown argument ${argument}; try --help`);
  }
  return undefined;
}

main().catch(fail);
