// Every program of README, guides and examples, run as its reader runs it: on a new service from the last page to the
// first, so none needs an earlier page. `npm run test:long` then runs all again in the order of the pages.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Anvil, startAnvil } from '../compat/chain/anvil.ts';
import { newPasskey } from '../packages/server/test/fixtures/passkey.ts';
import { newKeyPair } from '../packages/server/test/harness/client.ts';
import { times } from '../packages/server/test/harness/effort.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { Elsewhere } from './support/elsewhere.ts';
import { ReaderFolder } from './support/folder.ts';
import { read } from './support/pages.ts';

const ID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const UUID = new RegExp(`^${ID}$`);
const ETHEREUM = '0x[0-9a-fA-F]{40}';
const SIGNATURE = `${ETHEREUM} \\{\\s+r: '[0-9a-f]{64}',\\s+s: '[0-9a-f]{64}',\\s+v: '0[01]'\\s+\\}`;
const WORDS = '12 words without a passphrase';
/** Files that programs import, and that do nothing by themselves. */
const MODULES = ['client.mjs', 'inbox.mjs', 'sdk.mjs', 'trust.mjs'];

const isLong = times(1) > 1;

let anvil: Anvil;
let elsewhere: Elsewhere;
let service: TestServer;
let folder: ReaderFolder;

beforeAll(async () => {
  [anvil, elsewhere] = await Promise.all([startAnvil(), Elsewhere.start()]);
  service = await TestServer.start({
    env: {
      CUSTOS_OUTBOUND_ALLOW: '127.0.0.0/8',
      CUSTOS_OAUTH2_X_TOKEN_URL: `${elsewhere.url}/oauth2/token`,
      CUSTOS_OAUTH2_X_USER_URL: `${elsewhere.url}/oauth2/user`,
      CUSTOS_MOONPAY_API_URL: elsewhere.url,
      CUSTOS_CHAINS: JSON.stringify({ 'eip155:31337': { rpcUrls: [anvil.url], pollMs: 200 } }),
    },
  });
  folder = new ReaderFolder(service.dataDir);
  folder.replaceAddress('send.mjs', 'http://127.0.0.1:8545', anvil.url);
  // What the guides say that their readers bring.
  folder.save(
    'issuer.mjs',
    `export const idTokenFor = async (nonce) => (await (await fetch('${elsewhere.url}/token?nonce=' + nonce)).json()).idToken;`,
  );
  folder.save(
    'authorize.mjs',
    `export const [clientId, clientSecret, redirectUri] = ['example-client', 'a secret', 'https://app.example/back'];
    export const authorize = async () => ({ authCode: 'the code', codeVerifier: '${Elsewhere.verifier}' });`,
  );
  folder.save('provider.mjs', `export const [publishableApiKey, secretKey] = ['pk_test_1', 'sk_test_1'];`);
});

afterAll(async () => {
  folder?.[Symbol.dispose]();
  await service?.[Symbol.asyncDispose]();
  await elsewhere?.[Symbol.asyncDispose]();
  await anvil?.stop();
});

const run = (name: string, ...args: string[]): Promise<string> => folder.run(name, ...args);
const runExample = (name: string, ...args: string[]): Promise<string> => folder.runExample(name, ...args);
const credentials = (): string => join(service.dataDir, 'root-credentials.json');

/** The programs of a page that belong together, in the order of the pages. */
const WALKS: Readonly<Record<string, () => Promise<void>>> = {
  'the README': async () => {
    expect(await run('sign.mjs')).toMatch(new RegExp(`^${SIGNATURE}$`));
  },

  start: async () => {
    expect(await run('wallet.mjs')).toMatch(new RegExp(`^${SIGNATURE}$`));
  },

  'the example first-request': async () => {
    for (const args of [[], [credentials()]]) {
      const [first, ...users] = (await runExample('first-request.ts', ...args)).split('\n');
      expect(first).toBe('I am Root user of My organization.');
      expect(users[0]).toMatch(new RegExp(`^- Root user \\(${ID}\\), API keys: [1-9]`));
    }
  },

  'the example quorum': async () => {
    expect((await runExample('quorum.ts')).split('\n')).toEqual([
      'proposed: ACTIVITY_TYPE_CREATE_USER_TAG is ACTIVITY_STATUS_CONSENSUS_NEEDED',
      'Bob approved: ACTIVITY_STATUS_COMPLETED',
      '- Alice: VOTE_SELECTION_APPROVED, signature verified',
      '- Bob: VOTE_SELECTION_APPROVED, signature verified',
      'proposed: ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME is ACTIVITY_STATUS_CONSENSUS_NEEDED',
      'Carol rejected: ACTIVITY_STATUS_REJECTED',
      'Treasury has the tags: Approvers',
    ]);
  },

  'the example sub-organization': async () => {
    const lines = (await runExample('sub-organization.ts')).split('\n');
    const pages = lines.filter((line) => line.startsWith('page of '));
    const total = pages.reduce((sum, line) => sum + Number(line.slice('page of '.length)), 0);
    const [, benId] = new RegExp(`^created (${ID}) for ben\\.`).exec(lines[1] ?? '') ?? [];
    expect(total).toBeGreaterThanOrEqual(3);
    expect(pages).toHaveLength(Math.ceil(total / 2));
    expect(lines.filter((line) => !pages.includes(line))).toEqual([
      expect.stringMatching(`^created ${ID} for ann\\.`),
      expect.stringMatching(`^created ${ID} for ben\\.`),
      expect.stringMatching(`^created ${ID} for cem\\.`),
      `sub-organizations: ${total}`,
      `found by email: ${benId}`,
      'the parent sees: ben',
      'the end user is now called Benjamin',
    ]);
  },

  'the example wallet': async () => {
    const lines = (await runExample('wallet.ts')).split('\n');
    const [, addresses] = /^created: (0x[0-9a-fA-F]{40}, [1-9A-HJ-NP-Za-km-z]{32,44})$/.exec(lines[0] ?? '') ?? [];
    expect(addresses).toBeDefined();
    expect(lines).toEqual([
      `created: ${addresses}`,
      'the signature is right',
      'exported: 12 words',
      `imported: ${addresses}`,
    ]);
  },

  'app proofs': async () => {
    expect(await run('app-proof.mjs')).toBe(
      'APP_PROOF_TYPE_POLICY_OUTCOME true\nAPP_PROOF_TYPE_ADDRESS_DERIVATION true\ntrue',
    );
  },

  deployments: async () => {
    const keys = [newKeyPair(), newKeyPair(), newKeyPair()].map(({ publicKey }) => publicKey);
    const { manifestSetOperatorIds, ...ids } = JSON.parse(await run('deploy.mjs', ...keys));
    expect(manifestSetOperatorIds).toHaveLength(2);
    for (const name of ['appId', 'deploymentId', 'manifestId']) expect(ids[name]).toMatch(UUID);
  },

  'fiat on-ramp': async () => {
    expect(await run('on-ramp.mjs')).toBe('buy-sandbox.moonpay.com\nPENDING');
  },

  'import and export': async () => {
    expect(await run('export-wallet.mjs')).toBe(WORDS);
    expect(await run('import-wallet.mjs')).toBe("[ '0x9858EfFD232B4033E47d90003D41EC34EcaEda94' ]");
    expect(await run('import-key.mjs')).toBe('0x9858EfFD232B4033E47d90003D41EC34EcaEda94');
    expect(await run('secret.mjs')).toBe('the token of another service');
    expect(await run('export-with-turnkey.mjs')).toBe(WORDS);
  },

  'IP allowlists': async () => {
    expect(await run('ip.mjs')).toMatch(/\n400 IP_LOCKOUT .*\n/);
  },

  MFA: async () => {
    const printed = await run('mfa.mjs');
    expect(printed).toContain('ACTIVITY_PENDING ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
    expect(printed).toMatch(new RegExp(`\nACTIVITY_STATUS_COMPLETED ${ID}$`));
  },

  'OpenID and OAuth': async () => {
    expect(await run('oidc-login.mjs')).toBe("Dan [ 'Example' ]");
    expect(await run('oauth2-login.mjs')).toBe('x:42 true');
  },

  'one-time codes': async () => {
    expect(await run('otp-auth.mjs')).toBe('Cleo');
    expect(await run('otp-login.mjs')).toBe('Ada 15');
  },

  policies: async () => {
    const printed = await run('payments.mjs');
    expect(printed).toMatch(
      new RegExp(`^${ID} \\[\\]\n02[0-9a-f]{18}\n403 .* No policies evaluated to outcome: Allow\n`),
    );
    const [, activityId = ''] = new RegExp(`"activityId": "(${ID})"`).exec(printed) ?? [];
    expect(await run('explain.mjs', activityId)).toMatch(
      /\n +false {2}eth\.tx\.contract_call_args\['amount'\] <= 100000000$/,
    );
    expect(await run('simulate.mjs')).toContain('"outcome": "OUTCOME_ALLOW"');
  },

  'the public SDK': async () => {
    expect(await run('walk.mjs', credentials())).toMatch(
      new RegExp(`^Root user\n${SIGNATURE}\nACTIVITY_STATUS_CONSENSUS_NEEDED\nACTIVITY_STATUS_COMPLETED$`),
    );
  },

  recovery: async () => {
    const { registration } = newPasskey('New device');
    folder.save('passkey.mjs', `export const newPasskey = async () => (${JSON.stringify(registration)});`);
    expect(await run('recover.mjs')).toBe('1');
  },

  sends: async () => {
    expect(await run('send.mjs')).toMatch(/^INCLUDED 0x[0-9a-f]{64}\n9\.99/);
  },

  sessions: async () => {
    const [, printed] = /```\n\n```\n(.*?)```/s.exec(read('docs/guides/sessions.md')) ?? [];
    expect(await run('session.mjs')).toBe(printed?.trimEnd());
  },

  'the sign-up proxy': async () => {
    const configId = await run('enable-proxy.mjs');
    expect(configId).toMatch(UUID);
    const lines = (await run('sign-up.mjs', configId)).split('\n');
    expect(lines.at(-1)).toMatch(/^bea\.\w+@example\.com$/);
    expect(lines.slice(0, -1).join('')).toMatch(/organizationId: '[0-9a-f-]{36}',\s*userId: '[0-9a-f-]{36}'/);
  },

  signing: async () => {
    expect(await run('sign-transaction.mjs')).toMatch(/value: 10000000000000000n,.*\ntrue$/s);
    expect(await run('sign-message.mjs')).toBe('true\ntrue\ntrue');
    const { baseUrl, organizationId } = service.credentials;
    const body = JSON.stringify({ organizationId });
    writeFileSync(join(folder.path, 'body.json'), body);
    const [name = '', value = ''] = (await run('stamp.mjs', 'body.json')).split(': ');
    const answer = await fetch(`${baseUrl}/public/v1/query/whoami`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json', [name]: value },
    });
    expect(await answer.json()).toMatchObject({ username: 'Root user' });
  },

  'velocity controls': async () => {
    expect(await run('velocity.mjs')).toMatch(/\n403 VELOCITY_EXCEEDED .*\nREFUSED .*aggregate: '1\.000001'/s);
  },

  wallets: async () => {
    expect(await run('create-wallet.mjs')).toMatch(new RegExp(`^${ID} \\[[^]*\\]\n\\[ '${ETHEREUM}' \\]$`));
    const lines = (await run('look-up.mjs')).split('\n');
    expect([lines[0], lines.at(-1)]).toEqual(['true', 'true']);
  },

  webhooks: async () => {
    const receiver = spawn(process.execPath, ['receiver.mjs'], {
      cwd: folder.path,
      env: { ...folder.env, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const lines = createInterface(receiver.stdout)[Symbol.asyncIterator]();
      const nextLine = async (): Promise<string> => (await lines.next()).value;
      const url = await nextLine();
      const guide = read('docs/guides/webhooks.md');
      const [, told = ''] = /The receiver prints\n\n```\n(.*?)\n```/s.exec(guide) ?? [];
      const [, listed] = /```\n\n```\n(.*?)\n```/s.exec(guide) ?? [];
      const [endpointId = '', answer] = (await run('subscribe.mjs', url)).split('\n');
      expect(answer).toBe('true 200');
      for (const line of told.split('\n')) expect(await nextLine()).toBe(line);
      // A result is written down after the receiver has answered.
      await vi.waitFor(async () => expect(await run('deliveries.mjs', endpointId)).toBe(listed), { timeout: 20_000 });
      folder.runs.set('receiver.mjs', (folder.runs.get('receiver.mjs') ?? 0) + 1);
    } finally {
      receiver.kill();
      await once(receiver, 'exit');
    }
  },
};

describe('from the last page to the first', () => {
  test.each(Object.entries(WALKS).reverse())('%s', async (_page, walk) => await walk());
});

if (isLong) {
  describe('once more, in the order of the pages', () => {
    test.each(Object.entries(WALKS))('%s', async (_page, walk) => await walk());
  });
}

test('no program was left out', () => {
  const programs = [...folder.programs.keys()].filter((name) => !MODULES.includes(name));
  expect(programs.filter((name) => (folder.runs.get(name) ?? 0) < (isLong ? 2 : 1))).toEqual([]);
});
