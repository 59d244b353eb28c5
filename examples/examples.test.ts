import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestServer } from '../packages/server/test/harness/server.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

/** Runs an example as its reader would, and answers what it printed. */
async function run(name: string, args: readonly string[] = []): Promise<string[]> {
  const program = join(root, 'node_modules', '.bin', 'tsx');
  const { stdout, stderr } = await promisify(execFile)(program, ['--conditions=source', `examples/${name}`, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', ...(args.length === 0 && { CUSTOS_DATA_DIR: server.dataDir }) },
  });
  expect(stderr).toBe('');
  return stdout.trimEnd().split('\n');
}

test('first-request', async () => {
  const expected = [
    'I am Root user of My organization.',
    expect.stringMatching(`^- Root user \\(${UUID}\\), API keys: 1$`),
  ];
  expect(await run('first-request.ts')).toEqual(expected);
  expect(await run('first-request.ts', [join(server.dataDir, 'root-credentials.json')])).toEqual(expected);
});

test('quorum', async () => {
  expect(await run('quorum.ts')).toEqual([
    'proposed: ACTIVITY_TYPE_CREATE_USER_TAG is ACTIVITY_STATUS_CONSENSUS_NEEDED',
    'Bob approved: ACTIVITY_STATUS_COMPLETED',
    '- Alice: VOTE_SELECTION_APPROVED, signature verified',
    '- Bob: VOTE_SELECTION_APPROVED, signature verified',
    'proposed: ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME is ACTIVITY_STATUS_CONSENSUS_NEEDED',
    'Carol rejected: ACTIVITY_STATUS_REJECTED',
    'Treasury has the tags: Approvers',
  ]);
});

test('sub-organization', async () => {
  const lines = await run('sub-organization.ts');
  const pages = lines.filter((line) => line.startsWith('page of '));
  const total = pages.reduce((sum, line) => sum + Number(line.slice('page of '.length)), 0);
  const [, benId] = new RegExp(`^created (${UUID}) for ben\\.`).exec(lines[1] ?? '') ?? [];
  expect(total).toBeGreaterThanOrEqual(3);
  expect(pages).toHaveLength(Math.ceil(total / 2));
  expect(lines.filter((line) => !pages.includes(line))).toEqual([
    expect.stringMatching(`^created ${UUID} for ann\\.`),
    expect.stringMatching(`^created ${UUID} for ben\\.`),
    expect.stringMatching(`^created ${UUID} for cem\\.`),
    `sub-organizations: ${total}`,
    `found by email: ${benId}`,
    'the parent sees: ben',
    'the end user is now called Benjamin',
  ]);
});

test('wallet', async () => {
  const lines = await run('wallet.ts');
  const [, addresses] = /^created: (0x[0-9a-fA-F]{40}, [1-9A-HJ-NP-Za-km-z]{32,44})$/.exec(lines[0] ?? '') ?? [];
  expect(addresses).toBeDefined();
  expect(lines).toEqual([
    `created: ${addresses}`,
    'the signature is right',
    'exported: 12 words',
    `imported: ${addresses}`,
  ]);
});
