import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ApiKeyStamper, createClient, generateApiKey } from '@custos/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestServer } from '../../../server/test/harness/server.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/custos.js', import.meta.url));
const EXAMPLE = fileURLToPath(new URL('../../../../examples/policies/payments.jsonc', import.meta.url));
const GUIDE = fileURLToPath(new URL('../../../../docs/guides/testing-policies.md', import.meta.url));

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'custos-policy-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built program, as its user does, in an empty folder and without settings. */
function custos(...args: string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env: { PATH: process.env.PATH ?? '' } };
    execFile(process.execPath, [PROGRAM, ...args], options, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

function write(name: string, value: unknown): string {
  writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value, null, 2));
  return name;
}

describe('custos policy test', () => {
  test('passes the example, which covers all of its policies', async () => {
    const { status, stdout, stderr } = await custos('policy', 'test', '--coverage-min', '100', EXAMPLE);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines.filter((line) => line.startsWith('  ok    '))).toHaveLength(11);
    expect(lines.slice(-3)).toEqual([
      expect.stringMatching(/^ {2}coverage: (\d+) of \1 sub-expressions were both true and false \(100%\)$/),
      '',
      '11 cases, all passed',
    ]);
  });

  test('a weaker policy does not pass the example', async () => {
    const text = readFileSync(EXAMPLE, 'utf8');
    const changes: [string, string, string][] = [
      ['amount', "contract_call_args['amount'] <= 1000000000", "contract_call_args['amount'] <= 1000000000000"],
      ['wallet', "&& wallet.id == 'payments'", ''],
      ['token', "&& eth.tx.to == '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'", ''],
      ['time', "'Europe/Berlin'", "'Europe/London'"],
      ['officers', "user.tags.contains('officers')", 'user.tags.count() > 0'],
      ['deny', '"effect": "EFFECT_DENY"', '"effect": "EFFECT_ALLOW"'],
    ];
    for (const [name, before, after] of changes) {
      expect(text).toContain(before);
      const { status, stderr } = await custos('policy', 'test', write(`${name}.jsonc`, text.replace(before, after)));
      expect([name, status, stderr]).toEqual([name, 1, '']);
    }
  });

  test('prints what the guide shows for the file of the guide', async () => {
    const guide = readFileSync(GUIDE, 'utf8');
    const [, source = ''] = /```jsonc\n([\s\S]*?)```/.exec(guide) ?? [];
    const [, command = '', printed] = /```\n\$ npx (custos .*)\n([\s\S]*?)```/.exec(guide) ?? [];
    expect(command).toBe('custos policy test wallets.jsonc');
    write('wallets.jsonc', source);
    expect(await custos(...command.split(' ').slice(1))).toEqual({ status: 1, stdout: printed, stderr: '' });
    const right = source.replace('"REQUIRES_CONSENSUS" // wrong on purpose', '"DENY"');
    expect((await custos('policy', 'test', write('right.jsonc', right))).status).toBe(0);
    expect(await custos('policy', 'lint', 'right.jsonc')).toEqual({
      status: 0,
      stdout: '1 policy: nothing found\n',
      stderr: '',
    });
    expect(await custos('policy', 'test', '--coverage-min', '41', 'right.jsonc')).toMatchObject({
      status: 1,
      stderr: 'custos: the cases cover 40% of the sub-expressions, --coverage-min is 41\n',
    });
  });

  test('tells programs the same as people', async () => {
    const { status, stdout, stderr } = await custos('policy', 'test', '--json', EXAMPLE);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      passed: 11,
      failed: 0,
      coverage: { percent: 100 },
      files: [
        {
          file: EXAMPLE,
          cases: expect.arrayContaining([
            expect.objectContaining({
              name: '5,000 USDC once an officer agrees',
              passed: true,
              differences: [],
              decision: expect.objectContaining({
                outcome: 'OUTCOME_ALLOW',
                decidingPolicyIds: ['An officer agrees to larger payments'],
              }),
            }),
          ]),
        },
      ],
    });
  });

  test('a failed case among several files', async () => {
    const failing = readFileSync(EXAMPLE, 'utf8').replace('"submittedBy": "visitor"', '"submittedBy": "theo"');
    const { status, stdout, stderr } = await custos('policy', 'test', EXAMPLE, write('failing.jsonc', failing));
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    expect(stdout).toContain(
      [
        '  FAIL  a visitor pays nothing',
        '        expected DENY, got ALLOW (POLICY_ALLOWED)',
        "        policy 'Traders pay up to 1,000 USDC in business hours' (EFFECT_ALLOW): ALLOW, APPLIES",
        '          time',
        "            * true  CronSpan('0 9 * * 1-5', '8h', 'Europe/Berlin')",
        '          condition',
        '',
      ].join('\n'),
    );
    expect(stdout).toMatch(/22 cases, 1 failed\n$/);
  });

  test('a file that is wrong runs nothing', async () => {
    const text = readFileSync(EXAMPLE, 'utf8');
    const misspelt = write('misspelt.jsonc', text.replace('"submittedBy": "visitor"', '"submittedBy": "vistor"'));
    const line = text.slice(0, text.indexOf('"submittedBy": "visitor"')).split('\n').length;
    const uncompiled = write('uncompiled.jsonc', text.replace('eth.tx.function_name', 'eth.tx.functionName'));
    const { status, stdout, stderr } = await custos('policy', 'test', EXAMPLE, misspelt, uncompiled, 'missing.jsonc');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      `custos: misspelt.jsonc:${line}:7: case 'a visitor pays nothing': there is no user "vistor" in "organization"`,
      expect.stringMatching(
        /^custos: uncompiled\.jsonc:\d+:9: policy 'Traders .*': invalid policy condition: .*functionName.*\(E_UNKNOWN_FIELD at line 4, column 11\)$/,
      ),
      'custos: missing.jsonc: there is no such file',
      '',
    ]);
    const json = await custos('policy', 'test', '--json', misspelt);
    expect(json).toMatchObject({ status: 2, stderr: expect.stringMatching(/^custos: misspelt/) });
    expect(JSON.parse(json.stdout)).toEqual({
      problems: [
        {
          file: 'misspelt.jsonc',
          line,
          column: 7,
          subject: "case 'a visitor pays nothing'",
          reason: 'there is no user "vistor" in "organization"',
        },
      ],
    });
  });

  test('help and mistakes in the arguments', async () => {
    expect((await custos('policy', '--help')).stdout).toMatch(/test .*lint /s);
    const help = await custos('policy', 'test', '--help');
    expect(help).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('--coverage-min <percent>') });
    for (const args of [['test'], ['test', '--coverage-min', '101', EXAMPLE], ['lint', '--nothing']]) {
      const { status, stdout, stderr } = await custos('policy', ...args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toMatch(/^error: /);
    }
  });
});

const POLICIES = [
  { policyName: 'contradiction', effect: 'EFFECT_ALLOW', condition: "wallet.id == 'a' && wallet.id == 'b'" },
  { policyName: 'misspelt', effect: 'EFFECT_ALLOW', condition: ['true', "&& activity.knd == 'X'"] },
  { policyName: 'any signature', effect: 'EFFECT_ALLOW', condition: "activity.action == 'SIGN'" },
  { policyName: 'small', effect: 'EFFECT_ALLOW', condition: "activity.kind == 'SIGN_TRANSACTION' && eth.tx.value < 5" },
];

const FINDINGS = `\
NEVER_MATCHES: policy 'contradiction': the condition can never be true: it contradicts itself
  condition:
    wallet.id == 'a' && wallet.id == 'b'

EXPRESSION_INVALID: policy 'misspelt': Activity has no field knd; expected one of type, kind, resource, action, params (E_UNKNOWN_FIELD)
  condition:
    && activity.knd == 'X'
                ^^^

RAW_SIGNING_BYPASS: policy 'any signature': it allows to sign raw payloads`;

describe('custos policy lint', () => {
  test('finds nothing in the example', async () => {
    const expected = { status: 0, stdout: '3 policies: nothing found\n', stderr: '' };
    expect(await custos('policy', 'lint', EXAMPLE)).toEqual(expected);
  });

  test('prints findings with their part of the expression', async () => {
    const { status, stdout, stderr } = await custos('policy', 'lint', EXAMPLE, write('policies.json', POLICIES));
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    expect(stdout).toContain(`policies.json\n${FINDINGS}`);
    expect(stdout).toMatch(/\n {2}see 'small'\n\n7 policies: 3 findings\n$/);
    const json = await custos('policy', 'lint', '--json', write('answer.json', { policies: POLICIES, pageInfo: {} }));
    expect(json).toMatchObject({ status: 1, stderr: '' });
    expect(JSON.parse(json.stdout)).toMatchObject({
      sources: [
        {
          file: 'answer.json',
          policies: 4,
          findings: [
            { code: 'NEVER_MATCHES', policyName: 'contradiction', expression: 'condition' },
            { code: 'EXPRESSION_INVALID', policyName: 'misspelt', span: { start: 17, end: 20 } },
            { code: 'RAW_SIGNING_BYPASS', policyName: 'any signature', otherPolicyNames: ['small'] },
          ],
        },
      ],
    });
  });

  test('what holds no policies', async () => {
    expect(await custos('policy', 'lint', write('other.json', '{"users": []}'))).toEqual({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(/^custos: other\.json:1:2: unknown field "users" of a file of policies; expected /),
    });
  });

  test('a long line is cut around its part', async () => {
    const condition = `${"activity.kind == 'CREATE_WALLET' || ".repeat(20)}activity.knd == 'X'${' || true'.repeat(40)}`;
    const file = write('long.json', [{ policyName: 'long', effect: 'EFFECT_ALLOW', condition }]);
    const [, , shown = '', carets = ''] = (await custos('policy', 'lint', file)).stdout.split('\n').slice(1);
    expect(shown).toMatch(/^ {4}….*…$/);
    expect(shown.length).toBeLessThan(180);
    expect(shown.slice(carets.indexOf('^'), carets.lastIndexOf('^') + 1)).toBe('knd');
  });
});

describe('custos policy lint of a running organization', () => {
  /** Answers list_policies in pages of two, as long as there are policies. */
  async function startService(bodies: unknown[]): Promise<Server> {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { paginationOptions: { after?: string } };
      bodies.push({ path: request.url, isStamped: request.headers['x-stamp'] !== undefined, ...body });
      const start = Number(body.paginationOptions.after ?? '0');
      const policies = POLICIES.slice(start, start + 2).map((policy, index) => ({
        ...policy,
        condition: [policy.condition].flat().join('\n'),
        consensus: '',
        notes: '',
        policyId: `id-${start + index}`,
        createdAt: { seconds: '1', nanos: '0' },
        updatedAt: { seconds: '1', nanos: '0' },
      }));
      const hasNextPage = start + 2 < POLICIES.length;
      const pageInfo = { hasNextPage, hasPreviousPage: start > 0, startCursor: `${start}`, endCursor: `${start + 2}` };
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ policies, pageInfo }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server;
  }

  async function credentialsFor(server: Server): Promise<string> {
    const { publicKey, privateKey } = await generateApiKey();
    const { port } = server.address() as AddressInfo;
    return write('credentials.json', {
      baseUrl: `http://127.0.0.1:${port}`,
      organizationId: 'b1a7c2de-0000-4000-8000-000000000001',
      apiPublicKey: publicKey,
      apiPrivateKey: privateKey,
    });
  }

  test('reads every page', async () => {
    const bodies: unknown[] = [];
    const server = await startService(bodies);
    try {
      const credentials = await credentialsFor(server);
      const { status, stdout, stderr } = await custos('policy', 'lint', '--credentials', credentials);
      expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
      expect(stdout.startsWith(FINDINGS)).toBe(true);
      expect(stdout).toMatch(/\n4 policies: 3 findings\n$/);
      const request = { path: '/public/v1/query/list_policies', isStamped: true };
      expect(bodies).toMatchObject([
        { ...request, organizationId: 'b1a7c2de-0000-4000-8000-000000000001', paginationOptions: { limit: '100' } },
        { ...request, paginationOptions: { limit: '100', after: '2' } },
      ]);
    } finally {
      server.close();
    }
    await once(server, 'close');
    const gone = await custos('policy', 'lint', '--credentials', 'credentials.json');
    expect(gone).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(/^custos: no answer from http/),
    });
  });

  test('of a real service', async () => {
    await using server = await TestServer.start();
    const { baseUrl, organizationId, apiPublicKey, apiPrivateKey } = server.credentials;
    const stamper = new ApiKeyStamper({ publicKey: apiPublicKey, privateKey: apiPrivateKey });
    const client = createClient({ baseUrl, organizationId, stamper });
    const credentials = join(server.dataDir, 'root-credentials.json');
    expect(await custos('policy', 'lint', '--credentials', credentials)).toEqual({
      status: 0,
      stdout: '0 policies: nothing found\n',
      stderr: '',
    });
    // The service refuses the misspelt one.
    const policies = POLICIES.filter(({ policyName }) => policyName !== 'misspelt');
    const { activity } = await client.submitRaw(
      'create_policies',
      JSON.stringify({
        type: 'ACTIVITY_TYPE_CREATE_POLICIES',
        timestampMs: String(Date.now()),
        organizationId,
        parameters: { policies: policies.map((policy) => ({ ...policy, notes: '' })) },
      }),
    );
    expect(activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    const { status, stdout, stderr } = await custos('policy', 'lint', '--json', '--credentials', credentials);
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      sources: [
        {
          policies: 3,
          findings: [
            { code: 'NEVER_MATCHES', policyName: 'contradiction' },
            { code: 'RAW_SIGNING_BYPASS', policyName: 'any signature', otherPolicyNames: ['small'] },
          ],
        },
      ],
    });
  });

  test('without credentials', async () => {
    expect(await custos('policy', 'lint')).toEqual({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(/^custos: no credentials in data\/root-credentials\.json: there is no such file /),
    });
    write('list.json', '[1]');
    expect(await custos('policy', 'lint', '--credentials', 'list.json')).toEqual({
      status: 2,
      stdout: '',
      stderr: 'custos: list.json is not a credentials file: no baseUrl\n',
    });
  });
});
