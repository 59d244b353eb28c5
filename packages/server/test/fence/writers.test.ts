import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

// The storage refuses what a request would write for an organization that is held, and asks nothing of whoever has it bare. So
// each of those is known, with what keeps it from going on behind the fence.

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url));

/** Folders whose code serves requests or works in the background. */
const WATCHED = ['authn', 'chains', 'console', 'domains', 'engine', 'http', 'timekeeping'];

const BARE: Readonly<Record<string, string>> = {
  'authn/last-uses.ts': 'notes when credentials were used, also by queries',
  'chains/send/parts.ts': 'sends: a leased worker',
  'domains/balances/watch.ts': 'the watch over balances asks the fence, and stores what is sent later',
  'domains/messages/dev-inbox.ts': 'only reads',
  'domains/messages/outbox.ts': 'messages: a leased worker',
  'domains/messages/senders/choose.ts': 'messages: a leased worker',
  'domains/messages/senders/inbox.ts': 'messages: a leased worker',
  'domains/on-ramp/on-ramp.ts': 'asks no provider for who is held',
  'domains/sends/signer.ts': 'only reads',
  'domains/webhooks/describer.ts': 'webhooks: a leased worker',
  'domains/webhooks/dispatcher.ts': 'webhooks: a leased worker',
  'domains/webhooks/endpoint-queue.ts': 'webhooks: a leased worker',
  'domains/webhooks/recorder.ts': 'webhooks: a leased worker',
  'domains/webhooks/sweep.ts': 'webhooks: a leased worker, which waits with it too',
  'domains/webhooks/webhooks.ts': 'webhooks: a leased worker',
  'engine/feed/feed.ts': 'begins an era of change numbers, which nobody is told of but streams',
  'engine/readiness.ts': 'writes and deletes a row of its own, to see whether it can',
  'timekeeping/settle.ts': 'mends times that a clock got wrong, and lets nothing go on',
  'timekeeping/timekeeper.ts': 'mends times that a clock got wrong, and lets nothing go on',
};

function sources(folder: string): string[] {
  return readdirSync(join(SOURCE, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.includes('cases'))
    .map((name) => `${folder}/${name}`);
}

test('whoever has the bare storage is known, with a reason', () => {
  const bare = WATCHED.flatMap(sources).filter((file) =>
    /import (?:type )?\{[^}]*\bStorage\b[^}]*\} from '[./]*storage\/storage\.ts'/.test(
      readFileSync(join(SOURCE, file), 'utf8'),
    ),
  );
  expect(bare.sort()).toEqual(Object.keys(BARE).sort());
});
