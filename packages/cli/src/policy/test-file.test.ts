import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FileProblem } from './cursor.ts';
import { type FileResult, runTestFile } from './run.ts';
import { readTestFile } from './test-file.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'custos-policy-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function write(name: string, value: unknown): string {
  const file = join(folder, name);
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value, null, 2));
  return file;
}

/** What is wrong with a file, without its name and places. */
function problemsOf(value: unknown): string[] {
  const problems: FileProblem[] = [];
  const read = readTestFile(write('tests.jsonc', value));
  if ('cases' in read) runTestFile(read, problems);
  else problems.push(...read);
  return problems.map(({ subject, reason }) => (subject === undefined ? reason : `${subject}: ${reason}`));
}

function run(value: unknown): FileResult {
  const problems: FileProblem[] = [];
  const read = readTestFile(write('tests.jsonc', value));
  if (!('cases' in read)) throw read[0];
  const result = runTestFile(read, problems);
  if (problems[0] !== undefined) throw problems[0];
  return result;
}

/** What was wrong with each case; nothing for those that passed. */
const differencesOf = (value: unknown): string[][] => run(value).cases.map(({ differences }) => [...differences]);

const organization = {
  root: { threshold: 2, users: ['root', 'other'] },
  users: {
    root: {},
    other: {},
    ann: { id: 'id-of-ann', tags: ['payers'], email: 'ann@example.com', alias: 'Ann' },
    bob: {
      tags: ['payers'],
      credentials: [
        { id: 'key', type: 'CREDENTIAL_TYPE_API_KEY_P256', publicKey: '02aa' },
        { id: 'passkey', type: 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR', credentialId: 'xyz' },
      ],
    },
    eve: {},
  },
};

const allow = (policyName: string, texts: object = {}) => ({ policyName, effect: 'EFFECT_ALLOW', ...texts });
const wallets = allow('wallets', { condition: "activity.resource == 'WALLET'" });
const create = { name: 'a', activity: 'ACTIVITY_TYPE_CREATE_WALLET', submittedBy: 'ann', expect: 'ALLOW' };
const file = (changes: object = {}) => ({ organization, policies: [wallets], cases: [create], ...changes });
const withCase = (changes: object, policies: readonly object[] = [wallets]) =>
  file({ policies, cases: [{ ...create, ...changes }] });

/** A key, and requests for it that viem made. */
const ADDRESS = '0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F';
const PUBLIC_KEY = '024bc2a31265153f07e70e0bab08724e6b85e217f8cd628ceb62974247bb493382';
const TOKEN = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const UNSIGNED =
  '0x02f86d0107843b9aca008504a817c80082fde894a0b86991c6218b36c1d19d4a2e9eb0ce3606eb4880b844a9059cbb0000000000000000000000001111111111111111111111111111111111111111000000000000000000000000000000000000000000000000000000001dcd6500c0';
const account = {
  walletAccountId: 'account',
  address: ADDRESS,
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  curve: 'CURVE_SECP256K1',
  path: "m/44'/60'/0'/0/0",
  publicKey: PUBLIC_KEY,
};
const walletWith = (changes: object) => [{ walletId: 'w', walletName: 'W', accounts: [{ ...account, ...changes }] }];
const privateKeys = [
  {
    privateKeyId: 'k',
    privateKeyName: 'K',
    privateKeyTags: ['hot'],
    curve: 'CURVE_SECP256K1',
    publicKey: '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
    imported: true,
  },
];
const TRANSFER = {
  type: 'function',
  name: 'transfer',
  stateMutability: 'nonpayable',
  inputs: [
    { name: 'to', type: 'address' },
    { name: 'amount', type: 'uint256' },
  ],
  outputs: [{ name: '', type: 'bool' }],
};
const interfaces = [{ type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM', address: TOKEN, interface: [TRANSFER] }];
const sign = {
  name: 'sign',
  activity: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
  parameters: { signWith: ADDRESS, type: 'TRANSACTION_TYPE_ETHEREUM', unsignedTransaction: UNSIGNED },
  submittedBy: 'ann',
  expect: 'ALLOW',
};
const signing = (condition: string, changes: object = {}, fileChanges: object = {}) => ({
  organization,
  policies: [allow('p', { condition })],
  interfaces,
  wallets: walletWith({}),
  privateKeys,
  cases: [{ ...sign, ...changes }],
  ...fileChanges,
});

describe('a file that is wrong', () => {
  test.each<[string, unknown, string[]]>([
    ['is not JSON', '{ "cases": [', ['expected a value, but the text ends here']],
    ['is a list', [], ['a test file is an object']],
    [
      'has another field',
      file({ polices: [] }),
      [
        'unknown field "polices" of a test file; expected organization, policies, interfaces, wallets, privateKeys, cases',
      ],
    ],
    ['has no policies', { organization, cases: [create] }, ['"policies" is missing']],
    ['has no organization', { policies: [], cases: [create] }, ['"organization" is missing']],
    ['has no case', file({ cases: [] }), ['there is no case']],
    ['has two cases of one name', file({ cases: [create, create] }), ["case 'a': there is another case of this name"]],
    ['has a case without a name', file({ cases: [{}] }), ['case 1: "name" is missing']],
    [
      'has a root quorum that nobody can reach',
      file({ organization: { root: { threshold: 2, users: ['ann', 'ann'] }, users: { ann: {} } } }),
      ['"threshold" asks for 2 of 2 root users'],
    ],
    [
      'has a root quorum of nothing',
      file({ organization: { root: { threshold: 0, users: [] }, users: { ann: {} } } }),
      ['"threshold" is a number of approvals, at least 1'],
    ],
    [
      'has an unknown root user',
      file({ organization: { root: { threshold: 1, users: ['zoe'] }, users: { ann: {} } } }),
      ['there is no user "zoe" in "organization"'],
    ],
    [
      'has two users of one id',
      file({ organization: { root: { threshold: 1, users: ['ann'] }, users: { ann: {}, bob: { id: 'ann' } } } }),
      ['another user has the id ann'],
    ],
    [
      'has an unknown type of credential',
      file({
        organization: {
          root: { threshold: 1, users: ['ann'] },
          users: { ann: { credentials: [{ id: 'x', type: 'PASSKEY' }] } },
        },
      }),
      [expect.stringMatching(/^user 'ann': "type" is one of CREDENTIAL_TYPE_API_KEY_P256, /)],
    ],
  ])('%s', (_what, value, problems) => {
    expect(problemsOf(value)).toEqual(problems);
  });

  test('names every policy and every case that is wrong, each with its place', () => {
    const policies = [
      allow('first', { condition: 'wallet.idd == 1' }),
      allow('second', { condition: ["activity.kind == 'CREATE_WALLET'", '&& 1 <'] }),
      { policyName: 'third', effect: 'ALLOW' },
      allow('fourth', { codition: 'true' }),
      allow('first'),
    ];
    const read = readTestFile(write('tests.jsonc', file({ policies })));
    expect((read as readonly FileProblem[]).map(({ message }) => message.slice(folder.length + 1))).toEqual([
      expect.stringMatching(/^tests\.jsonc:\d+:7: policy 'third': "effect" is one of EFFECT_ALLOW, EFFECT_DENY$/),
      expect.stringMatching(/^tests\.jsonc:\d+:7: policy 'fourth': unknown field "codition" of a policy; expected /),
      expect.stringMatching(/^tests\.jsonc:\d+:5: policy 'first': there is another policy of this name or id$/),
      expect.stringMatching(
        /^tests\.jsonc:\d+:7: policy 'first': invalid policy condition: .*\(E_UNKNOWN_FIELD at column 8\)$/,
      ),
      expect.stringMatching(
        /^tests\.jsonc:\d+:9: policy 'second': invalid policy condition: .*\(E_SYNTAX at line 2, column 7\)$/,
      ),
    ]);
    expect(problemsOf(file({ cases: [{ name: 'x' }, { ...create, expect: 'MAYBE' }] }))).toEqual([
      'case \'x\': "submittedBy" is missing',
      'case \'a\': "expect" is one of ALLOW, DENY, DENY_EXPLICIT, DENY_IMPLICIT, REQUIRES_CONSENSUS',
    ]);
  });

  test('or is not there', () => {
    const missing = join(folder, 'missing.jsonc');
    expect(readTestFile(missing)).toMatchObject([{ message: `${missing}: there is no such file` }]);
    expect(readTestFile(folder)).toMatchObject([{ message: `${folder}: cannot be read (EISDIR)` }]);
  });
});

describe('a case that is wrong', () => {
  const raw = 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2';
  const exportWallet = 'ACTIVITY_TYPE_EXPORT_WALLET';
  test.each<[object, string]>([
    [{ activity: 'ACTIVITY_TYPE_CREATE_WALET' }, 'there is no activity type "ACTIVITY_TYPE_CREATE_WALET"'],
    [{ activity: 'ACTIVITY_TYPE_APPROVE_ACTIVITY' }, 'no policy decides about ACTIVITY_TYPE_APPROVE_ACTIVITY'],
    [
      { activity: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', params: {} },
      'only the root quorum decides about ACTIVITY_TYPE_UPDATE_ROOT_QUORUM, whatever it says',
    ],
    [
      { submitedBy: 'ann' },
      'unknown field "submitedBy" of a case; expected name, activity, params, context, contexts, parameters, subject, submittedBy, approvedBy, at, expect',
    ],
    [{ submittedBy: 'zoe' }, 'there is no user "zoe" in "organization"'],
    [{ submittedBy: { user: 'bob', credential: 'card' } }, 'the user has no credential "card"'],
    [{ subject: 'zoe' }, 'there is no user "zoe" in "organization"'],
    [{ at: 'noon' }, '"at" is a time from 1970 on with its offset, such as 2025-03-31T09:00:00+02:00'],
    [{ at: '2025-02-30T00:00:00Z' }, '"at" is a time from 1970 on with its offset, such as 2025-03-31T09:00:00+02:00'],
    [{ at: '2025-01-01T00:00:00' }, '"at" is a time from 1970 on with its offset, such as 2025-03-31T09:00:00+02:00'],
    [{ expect: { decision: 'ALLOW', decidedBy: ['x'] } }, 'there is no policy "x"'],
    [{ expect: { decision: 'ALLOW', outcomes: { x: 'ALLOW' } } }, 'there is no policy "x"'],
    [
      { expect: { decision: 'ALLOW', outcomes: { wallets: 'YES' } } },
      'an outcome is one of ALLOW, DENY_EXPLICIT, DENY_IMPLICIT, REQUIRES_CONSENSUS, ERROR, TIME_INACTIVE',
    ],
    [{ context: { wallet: { id: 'w' } } }, 'ACTIVITY_TYPE_CREATE_WALLET has no wallet; it has no context'],
    [{ context: { activity: {} } }, 'the activity follows from "activity" and "params"'],
    [{ activity: exportWallet, context: { walet: {} } }, 'walet: condition has no such field'],
    [{ activity: exportWallet, context: { wallet: { id: 1 } } }, 'wallet.id: expected a string'],
    [
      { activity: exportWallet, params: { public_key: '' } },
      'ACTIVITY_TYPE_EXPORT_WALLET shows policies no params.public_key; it shows target_public_key',
    ],
    [{ activity: exportWallet, params: { target_public_key: 1 } }, 'target_public_key: expected a string'],
    [
      { activity: raw, context: { wallet: { id: 'w' }, private_key: { id: 'k' } } },
      'one request never has wallet, private_key together',
    ],
    [{ context: {}, contexts: [{}] }, 'give "context" or "contexts", not both'],
    [{ contexts: [] }, 'a request has at least one element'],
    [{ parameters: {} }, 'only requests to sign are read whole; give "params" and "context" instead'],
    [
      { activity: 'ACTIVITY_TYPE_DELETE_WALLETS', context: { wallets: [{ id: 'w', imported: false, label: '' }] } },
      'wallets.0: Wallet always has exported; give the elements of a list whole',
    ],
  ])('%j', (changes, problem) => {
    expect(problemsOf(withCase(changes))).toEqual([`case 'a': ${problem}`]);
  });

  test('needs a time when a policy has one', () => {
    const timed = allow('hours', { time: "CronSpan('0 9 * * *', '8h', 'UTC')" });
    expect(problemsOf(withCase({}, [timed]))).toEqual([`case 'a': "at" is missing, and policy 'hours' has a time`]);
  });

  test('says whether the service would refuse the request', () => {
    const refusal = (parameters: object, changes: object = {}) =>
      problemsOf(signing('true', { parameters: { ...sign.parameters, ...parameters }, ...changes }));
    expect(refusal({ unsignedTransaction: '0x02f8' })).toEqual([
      expect.stringMatching(/^case 'sign': the service would refuse it: /),
    ]);
    expect(refusal({ signWith: '0x1111111111111111111111111111111111111111' })).toEqual([
      'case \'sign\': "signWith" names no key of "wallets" and "privateKeys"',
    ]);
    const taproot = { address: 'bc1p', addressFormat: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR' };
    const misfit = { parameters: { ...sign.parameters, signWith: 'bc1p' } };
    expect(problemsOf(signing('true', misfit, { wallets: walletWith(taproot) }))).toEqual([
      expect.stringMatching(/^case 'sign': the service would refuse it: .*Schnorr/),
    ]);
    expect(refusal({ unsigned: '' })).toEqual([
      'case \'sign\': unknown field "unsigned" of the parameters; expected signWith, type, unsignedTransaction',
    ]);
    expect(refusal({}, { params: {} })).toEqual(['case \'sign\': it follows from "parameters"']);
    expect(problemsOf(signing('true', {}, { wallets: walletWith({ address: TOKEN }) }))).toEqual([
      `"address" is not the one of this public key, which is ${ADDRESS.toLowerCase()}`,
    ]);
    expect(problemsOf(signing('true', {}, { wallets: walletWith({ publicKey: `02${'f'.repeat(64)}` }) }))).toEqual([
      '"publicKey" is not a point of CURVE_SECP256K1',
    ]);
    expect(problemsOf(signing('true', {}, { interfaces: [{ ...interfaces[0], interface: [{ type: 1 }] }] }))).toEqual([
      expect.stringMatching(/^the service would refuse it: invalid smart contract interface: /),
    ]);
  });
});

describe('a case that leaves out what a policy reads proves nothing', () => {
  const eth = (tx: object) => ({ eth: { tx } });
  const signContext = (context: object, condition: string, activity = 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2') =>
    problemsOf({
      ...file({ policies: [allow('p', { condition })] }),
      cases: [{ name: 'a', activity, context, submittedBy: 'ann', expect: 'DENY' }],
    });
  const certain = (name: string) => [
    `case 'a': policy 'p' reads ${name}, which every such request has and the case leaves out`,
  ];
  const open = (name: string) => [
    `case 'a': policy 'p' reads ${name}, and the case gives neither that nor what a request has in its place`,
  ];

  test.each<[object, string, string[]]>([
    [eth({ to: '' }), 'eth.tx.value == 1', certain('eth.tx.value')],
    [eth({ to: '' }), 'eth.tx.gasPrice == 1', certain('eth.tx.gasPrice')],
    [eth({}), "activity.params.type == 'x'", certain('params.type')],
    [{ wallet: { id: 'w' }, ...eth({}) }, "wallet_account.address == ''", certain('wallet_account')],
    [eth({}), "wallet.id == 'w'", open('wallet')],
    [{ wallet: { id: 'w' } }, 'eth . tx.value == 1', open('eth.tx')],
    // What such a request really does not have is no omission.
    [eth({}), "activity.params.encoding == 'x'", []],
    [{ wallet: { id: 'w' }, ...eth({}) }, "private_key.id == ''", []],
    [eth({}), "solana.tx.recent_blockhash == ''", []],
    [eth({}), "eth.eip_712.primary_type == ''", []],
    [eth({ function_name: '' }), "eth.tx.contract_call_args['a'] == 1", []],
  ])('%j for %s', (context, condition, problems) => {
    expect(signContext(context, condition)).toEqual(problems);
  });

  test('an encoding that gives a payload no meaning need not be said', () => {
    const context = { private_key: { id: 'k' } };
    expect(signContext(context, "eth.eip_712.primary_type == ''", 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2')).toEqual([]);
    expect(signContext({}, "eth.eip_712.primary_type == ''", 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2')).toEqual([]);
  });
});

describe('what a request shows policies', () => {
  test.each([
    "activity.kind == 'SIGN_TRANSACTION' && activity.resource == 'PRIVATE_KEY' && activity.action == 'SIGN'",
    "activity.params.type == 'TRANSACTION_TYPE_ETHEREUM'",
    `eth.tx.from == '${ADDRESS}' && eth.tx.to == '${TOKEN}' && eth.tx.nonce == 7 && eth.tx.chain_id == 1`,
    "eth.tx.function_name == 'transfer' && eth.tx.contract_call_args['amount'] == 500000000",
    "wallet.id == 'w' && wallet.label == 'W' && !wallet.imported",
    `wallet_account.address == '${ADDRESS}' && wallet_account.path_indexes[1] == 60 && wallet_account.path_hardened[2]`,
  ])('of a transaction: %s', (condition) => {
    expect(differencesOf(signing(condition))).toEqual([[]]);
    expect(differencesOf(signing(condition, { parameters: { ...sign.parameters, signWith: 'account' } }))).toEqual([
      [],
    ]);
  });

  test('with an interface as a text or in a file', () => {
    const condition = "eth.tx.contract_call_args['amount'] == 500000000";
    const { interface: abi, ...rest } = interfaces[0]!;
    write('token.json', abi);
    for (const source of [{ interface: JSON.stringify(abi) }, { file: 'token.json' }]) {
      expect(differencesOf(signing(condition, {}, { interfaces: [{ ...rest, ...source }] }))).toEqual([[]]);
    }
    expect(problemsOf(signing(condition, {}, { interfaces: [rest] }))).toEqual(['give "interface" or "file"']);
    expect(problemsOf(signing(condition, {}, { interfaces: [{ ...rest, file: 'none.json' }] }))).toEqual([
      `${join(folder, 'none.json')} cannot be read`,
    ]);
  });

  test('of the first version, which takes private keys', () => {
    const changes = {
      activity: 'ACTIVITY_TYPE_SIGN_TRANSACTION',
      parameters: { privateKeyId: 'k', type: 'TRANSACTION_TYPE_ETHEREUM', unsignedTransaction: UNSIGNED },
    };
    const condition = "private_key.id == 'k' && private_key.tags.contains('hot') && private_key.imported";
    expect(differencesOf(signing(condition, changes))).toEqual([[]]);
    expect(differencesOf(signing("activity.params.type == 'TRANSACTION_TYPE_ETHEREUM'", changes))).toEqual([[]]);
  });

  test('of payloads, each judged for itself', () => {
    const typedData = (amount: string) => ({
      types: { EIP712Domain: [{ name: 'name', type: 'string' }], Order: [{ name: 'amount', type: 'uint256' }] },
      primaryType: 'Order',
      domain: { name: 'Shop' },
      message: { amount },
    });
    const condition = "eth.eip_712.primary_type == 'Order' && eth.eip_712.message['amount'] < 100";
    const parameters = {
      signWith: 'k',
      encoding: 'PAYLOAD_ENCODING_EIP712',
      hashFunction: 'HASH_FUNCTION_NO_OP',
      payloads: [typedData('5'), JSON.stringify(typedData('99'))],
    };
    const changes = { activity: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOADS', parameters };
    expect(differencesOf(signing(condition, changes))).toEqual([[]]);
    const dear = { ...parameters, payloads: [typedData('5'), typedData('100')] };
    expect(differencesOf(signing(condition, { ...changes, parameters: dear, expect: 'DENY' }))).toEqual([[]]);
    const { payloads: _payloads, ...one } = parameters;
    const single = { activity: 'ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2', parameters: { ...one, payload: typedData('5') } };
    expect(differencesOf(signing(`${condition} && activity.params.encoding == '${one.encoding}'`, single))).toEqual([
      [],
    ]);
    expect(problemsOf(signing(condition, { ...changes, parameters: { ...parameters, payloads: [] } }))).toEqual([
      "case 'sign': there is nothing to sign",
    ]);
    for (const changed of [{ payload: '{}' }, { hashFunction: 'HASH_FUNCTION_SHA256' }]) {
      const refused = { ...single, parameters: { ...single.parameters, ...changed } };
      expect(problemsOf(signing(condition, refused))).toEqual([
        expect.stringMatching(/^case 'sign': the service would refuse it: /),
      ]);
    }
  });

  test('spelled out, also for several elements', () => {
    const secret = (name: string) => ({ secret: { id: name, name, static_properties: { level: 'low' } } });
    const contexts = [secret('a'), secret('b')];
    const changes = { activity: 'ACTIVITY_TYPE_EXPORT_SECRETS', contexts };
    const low = allow('low', { condition: "secret.static_properties['level'] == 'low' && secret.name in ['a', 'b']" });
    expect(differencesOf(withCase(changes, [low]))).toEqual([[]]);
    expect(differencesOf(withCase({ ...changes, contexts: [...contexts, secret('c')] }, [low]))).toEqual([
      ['expected ALLOW, got DENY_IMPLICIT (NO_POLICY_ALLOWS)'],
    ]);
  });
});

describe('approvals', () => {
  const two = allow('two', { consensus: "approvers.filter(user, user.tags.contains('payers')).count() >= 2" });
  const outcome = (changes: object, policies: readonly object[] = [two]) => {
    const [result] = run(withCase(changes, policies)).cases;
    return [...(result?.differences ?? []), ...(result?.notes ?? [])];
  };

  test('are given one after the other', () => {
    expect(outcome({ expect: 'REQUIRES_CONSENSUS' })).toEqual([]);
    expect(outcome({ approvedBy: ['bob'], expect: { decision: 'ALLOW', decidedBy: ['two'] } })).toEqual([]);
    expect(outcome({ approvedBy: ['bob'], expect: 'REQUIRES_CONSENSUS' })).toEqual([
      'expected REQUIRES_CONSENSUS, got ALLOW (POLICY_ALLOWED)',
    ]);
  });

  test('that count for nothing are refused as by the service', () => {
    expect(outcome({ approvedBy: ['eve'], expect: 'REQUIRES_CONSENSUS' })).toEqual([
      'the approval of eve counts for nothing, so the service refuses it',
    ]);
    expect(outcome({ approvedBy: ['eve', 'bob'] })).toHaveLength(1);
  });

  test('that spoil a consensus leave the activity open, as votes do', () => {
    const exact = allow('exact', { consensus: "approvers.count() == 2 && approvers.any(user, user.id == 'bob')" });
    const expected = { decision: 'REQUIRES_CONSENSUS', reason: 'STILL_PENDING' };
    expect(outcome({ approvedBy: ['eve'], expect: expected }, [exact])).toEqual([]);
  });

  test('that nobody needs show a wrong belief', () => {
    expect(differencesOf(withCase({ approvedBy: ['bob'] }))).toEqual([
      ['ALLOW was decided before bob approved: that approval is not needed'],
    ]);
    expect(differencesOf(withCase({ submittedBy: 'eve', approvedBy: ['bob'], expect: 'DENY' }, [two]))).toEqual([[]]);
    expect(outcome({ submittedBy: 'eve', approvedBy: ['bob'], expect: 'DENY' })).toEqual([
      'DENY_IMPLICIT was decided before bob approved',
    ]);
  });

  test('are given with a credential', () => {
    const passkey = allow('passkey', {
      consensus: "credentials.any(c, c.type == 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR' && c.credential_id == 'xyz')",
    });
    expect(outcome({ submittedBy: { user: 'bob', credential: 'passkey' } }, [passkey])).toEqual([]);
    expect(outcome({ submittedBy: 'bob', expect: 'DENY' }, [passkey])).toEqual([]);
  });

  test('of the root quorum stand above all policies', () => {
    const deny = { policyName: 'no', effect: 'EFFECT_DENY' };
    const expected = { decision: 'ALLOW', reason: 'ROOT_QUORUM', decidedBy: [] };
    expect(outcome({ submittedBy: 'root', approvedBy: ['other'], expect: expected }, [deny])).toEqual([]);
    expect(outcome({ activity: 'ACTIVITY_TYPE_UPDATE_ROOT_QUORUM', expect: 'DENY' }, [two])).toEqual([]);
  });

  test('of a user for its own account need no policy', () => {
    const changes = { activity: 'ACTIVITY_TYPE_CREATE_API_KEYS_V2', params: { user_id: 'id-of-ann' } };
    const own = { decision: 'ALLOW', reason: 'OWN_ACCOUNT' };
    expect(outcome({ ...changes, expect: own }, [])).toEqual([]);
    expect(outcome({ ...changes, submittedBy: 'eve', expect: 'DENY' }, [])).toEqual([]);
    expect(outcome({ activity: 'ACTIVITY_TYPE_STAMP_LOGIN', subject: 'ann', expect: own }, [])).toEqual([]);
  });
});

describe('expectations', () => {
  test('say what differs', () => {
    const closed = allow('wallets', { condition: 'false' });
    const policies = [
      wallets,
      allow('never', { condition: "activity.resource == 'USER'" }),
      { policyName: 'no', effect: 'EFFECT_DENY', condition: "activity.action == 'DELETE'" },
    ];
    const expected = {
      decision: 'DENY',
      reason: 'POLICY_DENIED',
      decidedBy: ['no'],
      outcomes: { wallets: 'ERROR', never: 'DENY_IMPLICIT' },
    };
    expect(differencesOf(withCase({ expect: expected }, policies))).toEqual([
      [
        'expected DENY, got ALLOW (POLICY_ALLOWED)',
        'expected the reason POLICY_DENIED, got POLICY_ALLOWED',
        "expected 'no' to decide, but 'wallets' did",
        "expected policy 'wallets' to come to ERROR, it came to ALLOW",
      ],
    ]);
    const quorum = { decision: 'ALLOW', decidedBy: ['wallets'], outcomes: { wallets: 'ALLOW' } };
    expect(differencesOf(withCase({ submittedBy: 'root', approvedBy: ['other'], expect: quorum }, [closed]))).toEqual([
      [
        "expected 'wallets' to decide, but no policy did",
        "expected policy 'wallets' to come to ALLOW, it was not evaluated",
      ],
    ]);
  });

  test('policies may go by the id that the service gave them', () => {
    const listed = { ...wallets, policyId: 'p-1', notes: '', createdAt: { seconds: '1', nanos: '0' }, updatedAt: {} };
    const answer = { policies: [listed], pageInfo: { hasNextPage: false } };
    write('answer.json', answer);
    const expected = { decision: 'ALLOW', decidedBy: ['p-1'] };
    expect(differencesOf({ ...withCase({ expect: expected }), policies: 'answer.json' })).toEqual([[]]);
    write('list.json', [listed]);
    expect(differencesOf({ ...withCase({ expect: expected }), policies: 'list.json' })).toEqual([[]]);
  });

  test('time is the one of the case', () => {
    const timed = allow('hours', { time: "CronSpan('0 9 * * 1-5', '8h', 'Europe/Berlin')" });
    expect(differencesOf(withCase({ at: '2025-03-31T09:00:00+02:00' }, [timed]))).toEqual([[]]);
    const early = {
      at: '2025-03-31T06:59:59.999Z',
      expect: { decision: 'DENY', outcomes: { hours: 'TIME_INACTIVE' } },
    };
    expect(differencesOf(withCase(early, [timed]))).toEqual([[]]);
  });
});

test('coverage counts what every case made true and false, votes included', () => {
  const policies = [
    allow('two', {
      condition: "activity.kind == 'CREATE_WALLET' || activity.kind == 'DELETE_WALLETS'",
      consensus: 'approvers.count() >= 2',
    }),
    allow('idle', { condition: "activity.kind == 'CREATE_USERS'" }),
  ];
  const cases = [
    { ...create, approvedBy: ['bob'] },
    { ...create, name: 'b', activity: 'ACTIVITY_TYPE_CREATE_USER_TAG', expect: 'DENY' },
  ];
  expect(run(file({ policies, cases })).coverage).toMatchObject([
    {
      policyName: 'two',
      outcomes: { OUTCOME_REQUIRES_CONSENSUS: 1, OUTCOME_ALLOW: 1, OUTCOME_DENY_IMPLICIT: 1 },
      parts: 4,
      coveredParts: 3,
      uncovered: [{ text: "activity.kind == 'DELETE_WALLETS'", wasTrue: false, wasFalse: true }],
    },
    { policyName: 'idle', outcomes: { OUTCOME_DENY_IMPLICIT: 3 }, parts: 1, coveredParts: 0 },
  ]);
});
