import { describe, expect, test } from 'vitest';
import {
  expectRefusal,
  type Outcome,
  openTables,
  runCli,
  runCliWith,
  temporaryFolder,
} from '../../../server/test/faults/support.ts';
import { databasesOf } from '../../../server/test/harness/databases.ts';
import { TestServer } from '../../../server/test/harness/server.ts';

/** The first two accounts of the usual mnemonic of local nodes. */
const KEY = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
const ADDRESS = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';
const OTHER_KEY = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d';
const OTHER_ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

const nodes = ['https://user:hunter2@one.example/', 'https://two.example/hunter2'];
const CUSTOS_CHAINS = JSON.stringify({
  'eip155:31337': { rpcUrls: nodes, operatorAddress: ADDRESS },
  'eip155:1': { rpcUrls: nodes.slice(1), operatorAddress: ADDRESS },
  'eip155:10': { rpcUrls: nodes },
});

type Environment = Readonly<Record<string, string>>;

const importKey = async (env: Environment, input: string, chain = 'eip155:31337'): Promise<Outcome> => {
  const outcome = await runCliWith(input, { CUSTOS_CHAINS, ...env }, 'chains', 'import-key', '--chain', chain);
  // Neither the key nor the password of a node.
  expect(`${outcome.stdout}${outcome.stderr}`).not.toMatch(new RegExp(`${KEY}|${OTHER_KEY}|hunter2`, 'i'));
  return outcome;
};
const list = (env: Environment) => runCli({ CUSTOS_CHAINS, ...env }, 'chains', 'list');

describe.each(databasesOf(import.meta.url))('custos chains on %s', (database) => {
  test('imports a key beside a running service and a stopped one', { timeout: 120_000 }, async () => {
    await using server = await TestServer.start({ database });
    const env = server.environment;
    expect(await importKey(env, `0x${KEY}\n`)).toMatchObject({
      code: 0,
      stderr: '',
      stdout: `imported the operator's key of ${ADDRESS} on eip155:31337\n`,
    });
    expectRefusal(await importKey(env, OTHER_KEY), new RegExp(`the key is that of ${OTHER_ADDRESS}, but`));
    expect(await server.stop()).toBe(0);
    expect(await importKey(env, KEY)).toMatchObject({
      code: 0,
      stdout: `the operator's key of ${ADDRESS} on eip155:31337 was there already\n`,
    });

    const [listed, verified] = await Promise.all([list(env), runCli(env, 'keyring', 'verify')]);
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(listed.stdout.split('\n')).toEqual([
      `eip155:31337: 2 nodes, operator ${ADDRESS.toLowerCase()}, key imported`,
      `eip155:1: 1 node, operator ${ADDRESS.toLowerCase()}, key missing`,
      'eip155:10: 2 nodes, no operator',
      '',
    ]);
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringMatching(/: all open\n$/) });
    await using tables = await openTables(server.dataDir, server.databaseUrl);
    const [rows = []] = await tables.read('SELECT caip2, address, sealed_key FROM chain_operator_key');
    expect(rows).toEqual([{ caip2: 'eip155:31337', address: ADDRESS.toLowerCase(), sealed_key: expect.anything() }]);
    expect(Buffer.from(rows[0]?.sealed_key).includes(Buffer.from(KEY, 'hex'))).toBe(false);
  });
});

test('what cannot be done is one line', async () => {
  using folder = temporaryFolder();
  const env = { CUSTOS_DATA_DIR: folder.path };
  const typo = { ...env, CUSTOS_CHAINS: '{"eip155:1":{"rpcUrl":[]}}' };
  const [nowhere, unlisted, unconfigured, misspelled, none] = await Promise.all([
    importKey(env, KEY),
    list(env),
    importKey(env, KEY, 'eip155:5'),
    importKey(typo, KEY),
    list({ ...env, CUSTOS_CHAINS: '' }),
  ]);
  expectRefusal(nowhere, /custos\.db holds no Custos service: start the service first/);
  expectRefusal(unlisted, /custos\.db holds no Custos service: start the service first/);
  expectRefusal(unconfigured, /chain eip155:5 is not configured: add it to CUSTOS_CHAINS first/);
  expectRefusal(misspelled, /has the key "rpcUrl"/);
  // Without operators there is nothing to look up.
  expect(none).toMatchObject({ code: 0, stdout: 'no chain is configured: set CUSTOS_CHAINS\n' });

  await using server = await TestServer.start();
  const { environment } = server;
  expectRefusal(await importKey(environment, ''), /no private key: it must be 64 hex digits, with or without 0x/);
  expectRefusal(await importKey(environment, 'x'.repeat(100_000)), /no private key: it is too long/);
  expectRefusal(await importKey(environment, KEY, 'eip155:10'), new RegExp(`set "operatorAddress": "${ADDRESS}"`));
});

test('help and mistakes in the arguments', async () => {
  const help = await runCli({}, 'chains', '--help');
  expect(help).toMatchObject({ code: 0, stderr: '' });
  expect(help.stdout).toMatch(/import-key \[options\].*list /s);
  expect((await runCli({}, 'chains', 'import-key', '--help')).stdout).toMatch(/standard\s+input.*--chain <caip2>/s);
  const mistakes = [
    [['import'], /^error: unknown command 'import'/],
    [['import-key'], /^error: required option '--chain <caip2>' not specified/],
    // A key as an argument would stay in the shell's history and show in the list of processes.
    [['import-key', '--chain', 'eip155:1', KEY], /^error: too many arguments/],
    [['import-key', '--chain', 'eip155:1', '--key', KEY], /^error: unknown option '--key'/],
    [['list', 'all'], /^error: too many arguments/],
  ] as const;
  const outcomes = await Promise.all(mistakes.map(([args]) => runCli({}, 'chains', ...args)));
  for (const [index, [, reason]] of mistakes.entries()) {
    expect(outcomes[index]).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(reason) });
  }
});
