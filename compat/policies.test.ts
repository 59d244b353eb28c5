// Policies, MFA, IP lists, session profiles and velocity controls as the unmodified client packages use them: what a
// policy allows is signed and verifies, what it refuses arrives as the error by which these packages know a refusal.
import { Keypair, PublicKey, Transaction as SolanaTransaction, SystemProgram } from '@solana/web3.js';
import { TurnkeySigner as EthersSigner } from '@turnkey/ethers';
import {
  createActivityPoller,
  getSignatureFromActivity,
  getSignedTransactionFromActivity,
  TurnkeyActivityError as HttpActivityError,
  TurnkeyRequestError as HttpRequestError,
  type TActivity,
} from '@turnkey/http';
import { defaultSolanaAccountAtIndex, type TurnkeyApiClient } from '@turnkey/sdk-server';
import { TurnkeySigner as SolanaSigner } from '@turnkey/solana';
import {
  createAccount,
  isTurnkeyActivityConsensusNeededError,
  isTurnkeyActivityError,
  TurnkeyActivityError,
  TurnkeyConsensusNeededError,
} from '@turnkey/viem';
import { Transaction } from 'ethers';
import {
  type BaseError,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  keccak256,
  type LocalAccount,
  recoverTransactionAddress,
  serializeTransaction,
  type TransactionSerializable,
  type TransactionSerializableEIP1559,
  type TransactionSerializableLegacy,
} from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openTestApp } from '../packages/server/test/harness/app.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import {
  addKey,
  CHAIN,
  denial,
  type Expressions,
  failure,
  gift,
  isUser,
  openTreasury,
  outcomesOf,
  PAYEE,
  type Person,
  payment,
  STRANGER,
  TOKEN,
  type Treasury,
} from './policy-fixtures.ts';
import { connect, credentialsOf, detailOf, errorCodeOf, fresh, openCouncil, refusal, UNKNOWN_ID } from './sdk.ts';

const LIMIT = 1_000_000n;
const SIGNS = "activity.kind == 'SIGN_TRANSACTION'";
const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const TIMESTAMP = { seconds: expect.stringMatching(/^\d+$/), nanos: expect.stringMatching(/^\d+$/) };

/** One function of one contract, one payee, one chain, up to an amount. */
const ALLOWANCE = [
  `eth.tx.to == '${TOKEN}'`,
  "eth.tx.function_name == 'transfer'",
  `eth.tx.contract_call_args['recipient'] == '${PAYEE}'`,
  `eth.tx.contract_call_args['amount'] <= ${LIMIT}`,
  'eth.tx.value == 0',
  `eth.tx.chain_id == ${CHAIN}`,
].join(' && ');

const HOURS = "CronSpan('0 9 * * 1-5', '8h', 'America/New_York')";
/** Moments on both sides of their edges, on a Sunday, in winter and in summer. */
const INSTANTS: readonly (readonly [string, boolean])[] = [
  ['2025-01-05T15:00:00Z', false],
  ['2025-01-06T13:59:59.999Z', false],
  ['2025-01-06T14:00:00Z', true],
  ['2025-01-06T21:59:59.999Z', true],
  ['2025-01-06T22:00:00Z', false],
  ['2025-07-07T12:59:59.999Z', false],
  ['2025-07-07T13:00:00Z', true],
];

/** Of the answer about a request that is not made, what these tests look at. */
interface Simulation {
  readonly status: string;
  readonly policyEvaluations: { readonly policyId: string; readonly outcome: string }[];
}

const asLegacy = ({
  chainId,
  nonce,
  gas,
  to,
  data,
}: TransactionSerializableEIP1559): TransactionSerializableLegacy => ({
  type: 'legacy',
  gasPrice: 30n,
  chainId,
  nonce,
  gas,
  to,
  data,
});

const accountOf = ({ client }: Person, { id, address }: Treasury): Promise<LocalAccount> =>
  createAccount({ client, organizationId: id, signWith: address });

/** The parameters of a signing request, for the clients that do not build transactions themselves. */
const signingOf = ({ address }: Treasury, transaction: TransactionSerializable) => ({
  signWith: address,
  type: 'TRANSACTION_TYPE_ETHEREUM' as const,
  unsignedTransaction: serializeTransaction(transaction).slice(2),
});

const sign = ({ client }: Person, treasury: Treasury, transaction: TransactionSerializable) =>
  client.signTransaction(signingOf(treasury, transaction));

const signerOf = (signed: string) => recoverTransactionAddress({ serializedTransaction: signed as `0x02${string}` });

/** The body of a submit for the low-level client, which leaves it to its caller. */
const requestOf = <T extends string, P>(organizationId: string, type: T, parameters: P) => ({
  type,
  timestampMs: String(Date.now()),
  organizationId,
  parameters,
});

// The packages talk to the same API on either database; both are tested beneath it.
describe.each(['postgres'] as const)('on %s', (database) => {
  let service: TestServer;
  let parent: TurnkeyApiClient;

  const open = () => openTreasury(service.baseUrl, parent);
  const evaluationsOf = async ({ root }: Treasury, activityId: string) =>
    (await root.client.getPolicyEvaluations({ activityId })).policyEvaluations;

  beforeAll(async () => {
    service = await TestServer.start({ database });
    parent = connect(service.baseUrl, service.credentials);
  });

  afterAll(async () => {
    await service[Symbol.asyncDispose]();
  });

  describe('an agent that may send up to an amount through one function of one contract', () => {
    let treasury: Treasury;
    let agent: Person;
    let account: LocalAccount;
    let policyId: string;

    beforeAll(async () => {
      treasury = await open();
      agent = await treasury.hire();
      const { smartContractInterfaceId } = await treasury.root.client.createSmartContractInterface({
        smartContractAddress: TOKEN,
        smartContractInterface: JSON.stringify(erc20Abi),
        type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
        label: 'token',
      });
      expect(smartContractInterfaceId).toMatch(UUID);
      policyId = await treasury.allow({ condition: ALLOWANCE, consensus: isUser(agent) });
      account = await accountOf(agent, treasury);
    });

    test.each([
      ['the whole amount', () => payment(LIMIT)],
      ['nothing', () => payment(0n)],
      ['a part, in an older type', () => asLegacy(payment(1n))],
    ])('signs a transfer of %s', async (_name, transaction) => {
      expect(await signerOf(await account.signTransaction(transaction()))).toBe(treasury.address);
    });

    test.each([
      ['more', () => payment(LIMIT + 1n), 'OUTCOME_DENY_IMPLICIT'],
      [
        'to another payee',
        () =>
          payment(0n, { data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [STRANGER, 1n] }) }),
        'OUTCOME_DENY_IMPLICIT',
      ],
      [
        'through another function with the same arguments',
        () =>
          payment(0n, {
            data: encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [PAYEE, PAYEE, 1n] }),
          }),
        'OUTCOME_DENY_IMPLICIT',
      ],
      [
        'through a function that has no payee',
        () => payment(0n, { data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [PAYEE, 1n] }) }),
        'OUTCOME_ERROR',
      ],
      ['through another contract', () => payment(1n, { to: STRANGER }), 'OUTCOME_ERROR'],
      ['on another chain', () => payment(1n, { chainId: 1 }), 'OUTCOME_DENY_IMPLICIT'],
      ['with ether beside it', () => payment(1n, { value: 1n }), 'OUTCOME_DENY_IMPLICIT'],
      ['as plain ether', () => payment(1n, { to: PAYEE, data: '0x', value: 1n }), 'OUTCOME_ERROR'],
    ] as const)('is refused %s', async (_name, transaction, outcome) => {
      const refused = await denial(sign(agent, treasury, transaction()));
      expect(refused.outcomes).toEqual({ [policyId]: outcome });
      expect(refused.message).toContain('No policies evaluated to outcome: Allow');
      expect(refused.error.message).toMatch(
        /^Turnkey error 7: You don't have sufficient permissions to take this action\./,
      );

      // The refusal is kept with its reasons.
      const { activity } = await agent.client.getActivity({ activityId: refused.activityId });
      expect(activity).toMatchObject({ status: 'ACTIVITY_STATUS_REJECTED', result: {} });
      const [kept] = await evaluationsOf(treasury, refused.activityId);
      expect(outcomesOf(kept?.policyEvaluations ?? [])).toEqual({ [policyId]: outcome });
    });

    test('viem tells of a refusal, and signs nothing else either', async () => {
      const hash = keccak256(serializeTransaction(payment(1n)));
      const attempts: (() => Promise<unknown>)[] = [
        () => account.signTransaction(payment(LIMIT + 1n)),
        // The hash of a transaction that would be allowed: raw signing must not be a way around the rule.
        () => account.sign?.({ hash }) as Promise<Hex>,
        () => account.signMessage({ message: 'anything' }),
        () => account.signAuthorization?.({ contractAddress: TOKEN, chainId: CHAIN, nonce: 0 }) as Promise<unknown>,
        () =>
          account.signTypedData({
            domain: { verifyingContract: TOKEN },
            types: {
              EIP712Domain: [{ name: 'verifyingContract', type: 'address' }],
              Permit: [{ name: 'spender', type: 'address' }],
            },
            primaryType: 'Permit',
            message: { spender: PAYEE },
          }),
      ];
      for (const attempt of attempts) {
        const error = await failure(attempt());
        expect(error).toBeInstanceOf(TurnkeyActivityError);
        expect(isTurnkeyActivityError(error)).toBeTruthy();
        const { message } = error as Error;
        expect(message).toContain('Failed to sign: Turnkey error 7: You don');
        expect(message).toContain('type.googleapis.com/errors.v1.PolicyEnginePermissionError');
      }
    });

    test('the low-level client and ethers as well', async () => {
      const type = 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' as const;
      const request = (amount: bigint) => requestOf(treasury.id, type, signingOf(treasury, payment(amount)));
      const { activity } = await agent.http.signTransaction(request(LIMIT));
      expect(await signerOf(getSignedTransactionFromActivity(activity))).toBe(treasury.address);
      const error = await failure(agent.http.signTransaction(request(LIMIT + 1n)));
      expect(error).toBeInstanceOf(HttpRequestError);
      const { code, details } = error as HttpRequestError;
      expect(code).toBe(7);
      expect(details).toContainEqual(
        expect.objectContaining({
          '@type': 'type.googleapis.com/errors.v1.PolicyEnginePermissionError',
          policyEvaluations: [expect.objectContaining({ policyId, outcome: 'OUTCOME_DENY_IMPLICIT' })],
        }),
      );

      const signer = new EthersSigner({
        client: agent.client,
        organizationId: treasury.id,
        signWith: treasury.address,
      });
      const plain = (amount: bigint) => {
        const { nonce = 0, chainId, data = null } = payment(amount);
        return {
          type: 2,
          to: TOKEN,
          nonce,
          chainId,
          data,
          gasLimit: 90_000n,
          maxFeePerGas: 3n,
          maxPriorityFeePerGas: 1n,
        };
      };
      expect(Transaction.from(await signer.signTransaction(plain(LIMIT))).from).toBe(treasury.address);
      expect(await failure(signer.signTransaction(plain(LIMIT + 1n)))).toMatchObject({
        name: 'TurnkeyActivityError',
        message: expect.stringContaining('Failed to sign: Turnkey error 7'),
      });
    });

    test('may do nothing else, least of all widen its own policy', async () => {
      const { client } = agent;
      for (const work of [
        () => client.updatePolicy({ policyId, policyCondition: 'true' }),
        () => client.createPolicy({ policyName: 'mine', effect: 'EFFECT_ALLOW', notes: '', condition: 'true' }),
        () => client.createWallet({ walletName: 'mine', accounts: [] }),
        () => client.exportWallet({ walletId: treasury.walletId, targetPublicKey: agent.key.publicKey }),
      ]) {
        expect((await denial(work())).message).toContain('No policies evaluated to outcome: Allow');
      }
      const { policies } = await client.getPolicies();
      expect(policies.map((policy) => policy.condition)).toEqual([ALLOWANCE]);
    });

    test('its root user is bound by none of it', async () => {
      const signed = await sign(treasury.root, treasury, payment(LIMIT * 2n, { chainId: 1 }));
      expect(await signerOf(`0x${signed.signedTransaction}`)).toBe(treasury.address);
      const [evaluation] = await evaluationsOf(treasury, signed.activity.id);
      expect(evaluation?.policyEvaluations).toEqual([]);
    });

    test('without the interface nobody knows the function any more', async () => {
      const own = await open();
      const clerk = await own.hire();
      const { client } = own.root;
      const created = {
        smartContractAddress: TOKEN,
        smartContractInterface: JSON.stringify(erc20Abi),
        type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM' as const,
        label: 'token',
        notes: 'from the explorer',
      };
      const { smartContractInterfaceId } = await client.createSmartContractInterface(created);
      await own.allow({ condition: ALLOWANCE, consensus: isUser(clerk) });
      const found = await client.getSmartContractInterface({ smartContractInterfaceId });
      expect(found.smartContractInterface).toEqual({
        ...created,
        organizationId: own.id,
        smartContractInterfaceId,
        createdAt: TIMESTAMP,
        updatedAt: TIMESTAMP,
      });
      const { smartContractInterfaces } = await client.getSmartContractInterfaces({});
      expect(smartContractInterfaces).toEqual([found.smartContractInterface]);
      expect((await sign(clerk, own, payment(1n))).activity.status).toBe('ACTIVITY_STATUS_COMPLETED');

      expect((await client.deleteSmartContractInterface({ smartContractInterfaceId })).smartContractInterfaceId).toBe(
        smartContractInterfaceId,
      );
      expect(Object.values((await denial(sign(clerk, own, payment(1n)))).outcomes)).toEqual(['OUTCOME_ERROR']);
      expect((await refusal(client.getSmartContractInterface({ smartContractInterfaceId }))).code).toBe(5);
      const nonsense = { ...created, smartContractInterface: '{"functions":' };
      expect((await refusal(client.createSmartContractInterface(nonsense))).code).toBe(3);
    });
  });

  test('an agent that may send up to an amount to one account of Solana', async () => {
    const treasury = await open();
    const agent = await treasury.hire();
    const { addresses } = await treasury.root.client.createWalletAccounts({
      walletId: treasury.walletId,
      accounts: [defaultSolanaAccountAtIndex(0)],
    });
    const payer = addresses[0] as string;
    const payee = Keypair.generate().publicKey;
    await treasury.allow({
      condition: [
        `wallet_account.address == '${payer}'`,
        'solana.tx.instructions.count() == 1',
        'solana.tx.transfers.count() == 1',
        `solana.tx.transfers.all(transfer, transfer.to == '${payee.toBase58()}' && transfer.amount <= 1000)`,
      ].join(' && '),
      consensus: isUser(agent),
    });
    const signer = new SolanaSigner({ client: agent.client, organizationId: treasury.id });
    const send = async (...transfers: [PublicKey, number][]) => {
      const fromPubkey = new PublicKey(payer);
      const transaction = new SolanaTransaction({ feePayer: fromPubkey, recentBlockhash: payee.toBase58() });
      for (const [toPubkey, lamports] of transfers) {
        transaction.add(SystemProgram.transfer({ fromPubkey, toPubkey, lamports }));
      }
      return (await signer.signTransaction(transaction, payer)) as SolanaTransaction;
    };
    expect((await send([payee, 1000])).verifySignatures()).toBe(true);
    for (const refused of [
      () => send([payee, 1001]),
      () => send([Keypair.generate().publicKey, 1]),
      () => send([payee, 1], [payee, 1000]),
    ]) {
      expect((await denial(refused())).message).toContain('No policies evaluated to outcome: Allow');
    }
  });

  describe('co-signing', () => {
    const openBoard = async () => {
      const treasury = await open();
      const [alice, bob, carol] = await Promise.all([treasury.hire(), treasury.hire(), treasury.hire()]);
      const tagId = await treasury.tag(alice, bob);
      const policyId = await treasury.allow({
        condition: SIGNS,
        consensus: `approvers.filter(user, user.tags.contains('${tagId}')).count() >= 2`,
      });
      return { treasury, alice, bob, carol, tagId, policyId };
    };

    test('one with the tag asks, another with the tag agrees', async () => {
      const { treasury, alice, bob, carol, policyId } = await openBoard();
      const asked = await sign(alice, treasury, gift(1n));
      expect(asked.activity).toMatchObject({
        status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
        result: {},
        canApprove: false,
      });
      expect(asked.signedTransaction).toBeUndefined();
      const { id: activityId, fingerprint } = asked.activity;
      const seenBy = async ({ client }: Person) => (await client.getActivity({ activityId })).activity;
      expect(await seenBy(bob)).toMatchObject({ canApprove: true, canReject: true });
      expect(await seenBy(carol)).toMatchObject({ canApprove: false, canReject: false });

      // Whoever lacks the tag has no say, and asking twice is no second voice.
      const outsider = await denial(carol.client.approveActivity({ fingerprint }));
      expect(outsider.message).toContain('Your vote does not count for this activity');
      expect((await denial(carol.client.rejectActivity({ fingerprint }))).error.code).toBe(7);
      const again = await alice.client.approveActivity({ fingerprint });
      expect(again.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');

      const agreed = await bob.client.approveActivity({ fingerprint });
      expect(agreed.activity).toMatchObject({ id: activityId, status: 'ACTIVITY_STATUS_COMPLETED' });
      const signed = agreed.activity.result.signTransactionResult?.signedTransaction as string;
      expect(await signerOf(`0x${signed}`)).toBe(treasury.address);
      // The SDK spreads the result of what was decided.
      expect(agreed).toMatchObject({ signTransactionResult: { signedTransaction: signed } });

      const records = await evaluationsOf(treasury, activityId);
      expect(records.map((record) => outcomesOf(record.policyEvaluations))).toEqual([
        { [policyId]: 'OUTCOME_REQUIRES_CONSENSUS' },
        { [policyId]: 'OUTCOME_ALLOW' },
      ]);
      const { votes } = await seenBy(alice);
      expect(records).toMatchObject(
        votes.map((vote) => ({ voteId: vote.id, activityId, organizationId: treasury.id, createdAt: TIMESTAMP })),
      );
      const late = await refusal(carol.client.approveActivity({ fingerprint }));
      expect(errorCodeOf(late)).toBe('ACTIVITY_ALREADY_DECIDED');
    });

    test('viem and the poller of the low-level client say that others must agree', async () => {
      const { treasury, alice, bob } = await openBoard();
      const account = await accountOf(alice, treasury);
      const error = await failure(account.signTransaction(gift(1n)));
      expect(error).toBeInstanceOf(TurnkeyConsensusNeededError);
      expect(isTurnkeyActivityConsensusNeededError(error as BaseError)).toBeTruthy();
      const { activityId, activityStatus } = error as TurnkeyConsensusNeededError;
      expect(activityStatus).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');

      const type = 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' as const;
      const poll = createActivityPoller({ client: alice.http, requestFn: alice.http.signTransaction });
      const polled = await failure(poll(requestOf(treasury.id, type, signingOf(treasury, gift(2n)))));
      expect(polled).toBeInstanceOf(HttpActivityError);
      expect(polled).toMatchObject({ activityStatus: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', activityType: type });

      for (const id of [activityId, (polled as HttpActivityError).activityId] as string[]) {
        const { activity } = await bob.http.getActivity({ organizationId: treasury.id, activityId: id });
        const approval = { fingerprint: activity.fingerprint };
        const agreed = await bob.http.approveActivity(
          requestOf(treasury.id, 'ACTIVITY_TYPE_APPROVE_ACTIVITY', approval),
        );
        expect(await signerOf(getSignedTransactionFromActivity(agreed.activity))).toBe(treasury.address);
      }
    });

    test('who asks must be one of them, and who lost the tag is no longer', async () => {
      const { treasury, alice, bob, carol, tagId, policyId } = await openBoard();
      expect((await denial(sign(carol, treasury, gift(1n)))).outcomes).toEqual({ [policyId]: 'OUTCOME_DENY_IMPLICIT' });

      const { activity } = await sign(alice, treasury, gift(2n));
      const { client } = treasury.root;
      await client.updateUserTag({ userTagId: tagId, addUserIds: [carol.userId], removeUserIds: [bob.userId] });
      await denial(bob.client.approveActivity({ fingerprint: activity.fingerprint }));
      const agreed = await carol.client.approveActivity({ fingerprint: activity.fingerprint });
      expect(agreed.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    });

    test('one refusal ends it, and a root user decides alone', async () => {
      const { treasury, alice, bob } = await openBoard();
      const refused = await sign(alice, treasury, gift(1n));
      const { fingerprint } = refused.activity;
      const { activity } = await bob.client.rejectActivity({ fingerprint });
      expect(activity).toMatchObject({ status: 'ACTIVITY_STATUS_REJECTED', result: {} });
      expect(errorCodeOf(await refusal(bob.client.approveActivity({ fingerprint })))).toBe('ACTIVITY_ALREADY_DECIDED');

      const asked = await sign(alice, treasury, gift(2n));
      const decided = await treasury.root.client.approveActivity({ fingerprint: asked.activity.fingerprint });
      expect(await signerOf(getSignedTransactionFromActivity(decided.activity as unknown as TActivity))).toBe(
        treasury.address,
      );
    });
  });

  describe('deny and allow', () => {
    test('a deny wins over an allow, and the root user over a deny', async () => {
      const treasury = await open();
      const agent = await treasury.hire();
      const allowId = await treasury.allow({ condition: SIGNS, consensus: isUser(agent) });
      const denyId = await treasury.deny({ condition: 'eth.tx.value > 1000' });

      const allowed = await sign(agent, treasury, gift(1000n));
      expect(await signerOf(`0x${allowed.signedTransaction}`)).toBe(treasury.address);
      const [kept] = await evaluationsOf(treasury, allowed.activity.id);
      const outcomes = { [allowId]: 'OUTCOME_ALLOW', [denyId]: 'OUTCOME_DENY_IMPLICIT' };
      expect(outcomesOf(kept?.policyEvaluations ?? [])).toEqual(outcomes);

      const refused = await denial(sign(agent, treasury, gift(1001n)));
      expect(refused.outcomes).toEqual({ [allowId]: 'OUTCOME_ALLOW', [denyId]: 'OUTCOME_DENY_EXPLICIT' });
      expect(refused.message).toContain(`The following policies denied this action: ${denyId}`);

      const byRoot = await sign(treasury.root, treasury, gift(1001n));
      expect(await signerOf(`0x${byRoot.signedTransaction}`)).toBe(treasury.address);

      // A policy that cannot say no to this request does not: raw payloads carry no transaction.
      await treasury.root.client.updatePolicy({ policyId: allowId, policyCondition: "activity.action == 'SIGN'" });
      const raw = await agent.client.signRawPayload({
        signWith: treasury.address,
        payload: '00'.repeat(32),
        encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
        hashFunction: 'HASH_FUNCTION_NO_OP',
      });
      expect(getSignatureFromActivity(raw.activity as unknown as TActivity)).toEqual({ r: raw.r, s: raw.s, v: raw.v });
      const [record] = await evaluationsOf(treasury, raw.activity.id);
      expect(outcomesOf(record?.policyEvaluations ?? [])).toEqual({
        [allowId]: 'OUTCOME_ALLOW',
        [denyId]: 'OUTCOME_ERROR',
      });
    });

    test('a quorum of two can gather over a deny', async () => {
      const { members } = await openCouncil(service.baseUrl, parent, 2);
      const [first, second] = members as [TurnkeyApiClient, TurnkeyApiClient];
      const agree = async ({ activity }: { readonly activity: { readonly fingerprint: string; status: string } }) => {
        expect(activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
        return (await second.approveActivity({ fingerprint: activity.fingerprint })).activity;
      };
      const policy = { policyName: 'nothing goes', effect: 'EFFECT_DENY' as const, notes: '', condition: 'true' };
      const { result } = await agree(await first.createPolicy(policy));
      const policyId = result.createPolicyResult?.policyId as string;
      expect((await agree(await first.deletePolicy({ policyId }))).result).toEqual({
        deletePolicyResult: { policyId },
      });
    });
  });

  describe('time', () => {
    test.each([
      ["time.now > Timestamp('2020-01-01T00:00:00Z')", true],
      ["time.now < Timestamp('2020-01-01T00:00:00Z')", false],
      ["CronSpan('* * * * *', '1m', 'Europe/Paris')", true],
      ["!CronSpan('0 0 * * *', '1d', 'UTC')", false],
    ])('%s', async (time, isActive) => {
      const treasury = await open();
      const agent = await treasury.hire();
      const policyId = await treasury.allow({ condition: SIGNS, consensus: isUser(agent), time });
      const { policy } = await agent.client.getPolicy({ policyId });
      expect(policy.time).toBe(time);
      const active = await agent.http.getActivePolicies({ organizationId: treasury.id });
      expect(active).toMatchObject({
        statuses: [{ organizationId: treasury.id, policyId, active: isActive, timeExpr: time }],
        evaluatedAtMs: expect.stringMatching(/^\d{13}$/),
      });
      if (isActive) {
        expect((await sign(agent, treasury, gift(1n))).activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      } else {
        const refused = await denial(sign(agent, treasury, gift(1n)));
        expect(refused.outcomes).toEqual({ [policyId]: 'OUTCOME_TIME_INACTIVE' });
      }
    });

    test('what business hours would make of a request is told for any moment', async () => {
      const treasury = await open();
      const agent = await treasury.hire();
      const policyId = await treasury.allow({ condition: SIGNS, consensus: isUser(agent), time: HOURS });
      const simulated = async (instant: string) => {
        const { simulation } = await agent.client.request<unknown, { simulation: Simulation }>(
          '/public/v1/query/simulate_activity',
          {
            organizationId: treasury.id,
            request: { type: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2', parameters: signingOf(treasury, gift(1n)) },
            atMs: String(Date.parse(instant)),
          },
        );
        return [simulation.status, outcomesOf(simulation.policyEvaluations)];
      };
      for (const [instant, isOpen] of INSTANTS) {
        expect([instant, ...(await simulated(instant))]).toEqual([
          instant,
          isOpen ? 'ACTIVITY_STATUS_COMPLETED' : 'ACTIVITY_STATUS_REJECTED',
          { [policyId]: isOpen ? 'OUTCOME_ALLOW' : 'OUTCOME_TIME_INACTIVE' },
        ]);
      }
      const { activities } = await agent.client.getActivities({
        filterByType: ['ACTIVITY_TYPE_SIGN_TRANSACTION_V2'],
      });
      expect(activities).toEqual([]);
    });

    test('a deny outside its time denies nothing', async () => {
      const treasury = await open();
      const agent = await treasury.hire();
      const allowId = await treasury.allow({ condition: SIGNS, consensus: isUser(agent) });
      const denyId = await treasury.deny({ condition: 'true', time: "time.now < Timestamp('2020-01-01T00:00:00Z')" });
      const { activity } = await sign(agent, treasury, gift(1n));
      const [kept] = await evaluationsOf(treasury, activity.id);
      expect(outcomesOf(kept?.policyEvaluations ?? [])).toEqual({
        [allowId]: 'OUTCOME_ALLOW',
        [denyId]: 'OUTCOME_TIME_INACTIVE',
      });
      await treasury.root.client.updatePolicy({ policyId: denyId, time: '' });
      expect((await denial(sign(agent, treasury, gift(1n)))).outcomes[denyId]).toBe('OUTCOME_DENY_EXPLICIT');
    });
  });

  describe('the policies themselves', () => {
    test('create, read, change and delete one', async () => {
      const { root, id } = await open();
      const { client } = root;
      const written = {
        policyName: fresh('policy'),
        effect: 'EFFECT_ALLOW' as const,
        condition: "activity.resource == 'WALLET'",
        consensus: 'approvers.count() >= 2',
        time: "time.now > Timestamp('2020-01-01T00:00:00Z')",
        notes: 'wallets need two',
      };
      const created = await client.createPolicy(written);
      const { policyId } = created;
      expect(policyId).toMatch(UUID);
      expect(created.activity).toMatchObject({
        type: 'ACTIVITY_TYPE_CREATE_POLICY_V3',
        status: 'ACTIVITY_STATUS_COMPLETED',
        intent: { createPolicyIntentV3: written },
        result: { createPolicyResult: { policyId } },
      });
      const first = (await client.getPolicy({ policyId })).policy;
      expect(first).toEqual({ ...written, policyId, createdAt: TIMESTAMP, updatedAt: TIMESTAMP });

      const bare = await client.createPolicy({ policyName: fresh('policy'), effect: 'EFFECT_DENY', notes: '' });
      const { policies } = await client.getPolicies();
      expect(policies.map((policy) => [policy.policyId, policy.effect])).toEqual([
        [policyId, 'EFFECT_ALLOW'],
        [bare.policyId, 'EFFECT_DENY'],
      ]);
      expect(policies[0]).toEqual(first);
      expect(policies[1]).toMatchObject({ condition: '', consensus: '' });

      const changed = await client.updatePolicy({
        policyId,
        policyName: 'renamed',
        policyConsensus: '',
        policyNotes: '',
      });
      expect(changed.policyId).toBe(policyId);
      expect(changed.activity.result.updatePolicyResultV2).toMatchObject({ policyId });
      const second = (await client.getPolicy({ policyId })).policy;
      expect(second).toEqual({
        ...first,
        policyName: 'renamed',
        consensus: '',
        notes: '',
        updatedAt: second.updatedAt,
      });
      const inverted = await client.updatePolicy({ policyId, policyEffect: 'EFFECT_DENY', policyCondition: 'false' });
      expect(inverted.policyId).toBe(policyId);
      expect((await client.getPolicy({ policyId })).policy).toMatchObject({
        policyName: 'renamed',
        effect: 'EFFECT_DENY',
        condition: 'false',
        time: written.time,
      });

      expect(await client.deletePolicy({ policyId })).toMatchObject({
        policyId,
        activity: { result: { deletePolicyResult: { policyId } } },
      });
      for (const gone of [() => client.getPolicy({ policyId }), () => client.deletePolicy({ policyId })]) {
        expect((await refusal(gone())).code).toBe(5);
      }
      expect((await refusal(parent.getPolicy({ policyId: bare.policyId }))).code).toBe(5);
      const seen = await parent.getPolicy({ organizationId: id, policyId: bare.policyId });
      expect(seen.policy.policyId).toBe(bare.policyId);
    });

    test('several at once, all or none', async () => {
      const { root } = await open();
      const { client } = root;
      const one = (policyName: string, condition = 'true') => ({
        policyName,
        effect: 'EFFECT_ALLOW' as const,
        condition,
        notes: '',
      });
      const { policyIds, activity } = await client.createPolicies({ policies: [one('a'), one('b'), one('c')] });
      expect(policyIds).toHaveLength(3);
      expect(activity.result.createPoliciesResult).toMatchObject({ policyIds });
      const names = async () => (await client.getPolicies()).policies.map((policy) => policy.policyName);
      expect(await names()).toEqual(['a', 'b', 'c']);

      const [a, b, c] = policyIds as [string, string, string];
      const taken = await refusal(client.createPolicies({ policies: [one('d'), one('a')] }));
      expect(taken.code).toBe(3);
      expect(taken.message).toContain('policy label must be unique');
      expect((await refusal(client.createPolicies({ policies: [one('d'), one('e', 'tru')] }))).code).toBe(3);
      expect((await refusal(client.deletePolicies({ policyIds: [a, UNKNOWN_ID] }))).code).toBe(5);
      expect(await names()).toEqual(['a', 'b', 'c']);

      expect((await client.deletePolicies({ policyIds: [a, c] })).policyIds).toEqual([a, c]);
      expect(await names()).toEqual(['b']);
      expect((await client.deletePolicy({ policyId: b })).policyId).toBe(b);
      expect(await names()).toEqual([]);
    });

    test('the older version of an update, by the low-level client', async () => {
      const { root, id, allow } = await open();
      const policyId = await allow({ condition: 'true' });
      const { activity } = await root.http.updatePolicy(
        requestOf(id, 'ACTIVITY_TYPE_UPDATE_POLICY' as never, { policyId, policyNotes: 'noted' }),
      );
      expect(activity.result.updatePolicyResult).toMatchObject({ policyId });
      expect((await root.http.getPolicy({ organizationId: id, policyId })).policy.notes).toBe('noted');
    });
  });

  describe('an expression that is wrong', () => {
    const WRONG: readonly (readonly [Expressions, RegExp])[] = [
      [{ condition: 'eth.tx.valeu > 1' }, /invalid policy condition: .*E_UNKNOWN_FIELD.*column 8/],
      [{ condition: "eth.tx.value > 'much'" }, /invalid policy condition: .*E_TYPE/],
      [{ condition: 'eth.tx.value' }, /invalid policy condition: .*E_NOT_BOOL/],
      [{ condition: 'true &&' }, /invalid policy condition: .*E_SYNTAX.*column 8/],
      [{ condition: 'activity.type == "ACTIVITY_TYPE_CREATE_WALLET"' }, /invalid policy condition: .*E_SYNTAX/],
      [{ consensus: 'approvers.cont() > 1' }, /invalid policy consensus: .*E_UNKNOWN_F/],
      [{ consensus: 'eth.tx.value > 1' }, /invalid policy consensus: .*E_UNKNOWN_KEYWORD/],
      [{ time: "CronSpan('*/5 * * * *', '1h', 'UTC')" }, /invalid policy time: .*E_CRON/],
    ];

    test.each(WRONG)('%j', async (expressions, message) => {
      const { root } = await open();
      const { client } = root;
      const [field, text] = Object.entries(expressions)[0] as [keyof Expressions, string];
      const policy = { policyName: 'p', effect: 'EFFECT_ALLOW' as const, notes: '' };
      const error = await refusal(client.createPolicy({ ...policy, ...expressions }));
      expect(error.code).toBe(3);
      expect(error.message).toMatch(/^Turnkey error 3: invalid policy /);
      expect(error.message).toMatch(message);
      expect(errorCodeOf(error)).toBe(field === 'time' ? 'INVALID_TIME' : `INVALID_POLICY_${field.toUpperCase()}`);
      expect(detailOf(error, 'BadRequest')).toMatchObject({
        fieldViolations: [{ field: `parameters.${field}`, description: expect.stringMatching(message) }],
      });
      expect((await client.getPolicies()).policies).toEqual([]);

      const { policyId } = await client.createPolicy(policy);
      const name = { condition: 'policyCondition', consensus: 'policyConsensus', time: 'time' }[field];
      const change = await refusal(client.updatePolicy({ policyId, policyName: 'q', [name]: text }));
      expect(change.message).toMatch(message);
      expect((await client.getPolicy({ policyId })).policy).toMatchObject({ policyName: 'p', condition: '' });
    });

    test('in an MFA policy and in a session profile', async () => {
      const { root } = await open();
      const mfa = await refusal(
        root.client.createMfaPolicy({
          userId: root.userId,
          mfaPolicyName: 'mfa',
          condition: 'approvers.count() > 1',
          requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] }],
          order: 0,
        }),
      );
      expect(mfa.code).toBe(3);
      expect(mfa.message).toMatch(/invalid mfa policy condition: .*E_UNKNOWN_KEYWORD/);
      const scope = await refusal(
        parent.createSessionProfile({ sessionProfileName: fresh('profile'), scope: "activity.actoin == 'SIGN'" }),
      );
      expect(scope.code).toBe(3);
      expect(scope.message).toMatch(/invalid session profile scope: .*E_UNKNOWN_FIELD/);
    });
  });

  describe('MFA', () => {
    /** An agent with two keys who has to show both, the first one first, to sign a transaction. */
    const openVault = async () => {
      const treasury = await open();
      const agent = await treasury.hire();
      const second = await addKey(service.baseUrl, treasury, agent);
      const { apiKeys } = await agent.client.getApiKeys({ userId: agent.userId });
      const firstId = apiKeys.find((key) => key.credential.publicKey === agent.key.publicKey)?.apiKeyId as string;
      await treasury.allow({ condition: 'eth.tx.value <= 1000', consensus: isUser(agent) });
      const written = {
        userId: agent.userId,
        mfaPolicyName: 'two keys',
        condition: "activity.action == 'SIGN'",
        requiredAuthenticationMethods: [
          { any: [{ type: 'AUTHENTICATION_TYPE_API_KEY' as const, id: firstId }] },
          {
            any: [
              { type: 'AUTHENTICATION_TYPE_PASSKEY' as const },
              { type: 'AUTHENTICATION_TYPE_API_KEY' as const, id: second.apiKeyId },
            ],
          },
        ],
        order: 0,
        notes: 'both of them',
      };
      const { mfaPolicyId } = await treasury.root.client.createMfaPolicy(written);
      return { treasury, agent, second, firstId, written, mfaPolicyId };
    };

    test('signs when both keys have been shown', async () => {
      const { treasury, agent, second, firstId, written, mfaPolicyId } = await openVault();
      const asked = await sign(agent, treasury, gift(1n));
      expect(asked.activity).toMatchObject({ status: 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED', result: {} });
      const { id: activityId, fingerprint } = asked.activity;
      const status = {
        mfaPolicyId,
        userId: agent.userId,
        satisfied: false,
        satisfiedMethods: [{ type: 'AUTHENTICATION_TYPE_API_KEY', id: firstId }],
        requiredMethods: written.requiredAuthenticationMethods,
      };
      expect((await agent.client.getMfaStatus({ activityId })).mfaStatuses).toEqual([status]);

      // The same key again proves nothing more.
      const again = await agent.client.approveActivity({ fingerprint });
      expect(again.activity.status).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
      const done = await second.client.approveActivity({ fingerprint });
      expect(done.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      const signed = done.activity.result.signTransactionResult?.signedTransaction;
      expect(await signerOf(`0x${signed}`)).toBe(treasury.address);
      const statusesOf = async (userId: string) =>
        (await agent.client.getMfaStatus({ activityId, userId })).mfaStatuses;
      const secondMethod = { type: 'AUTHENTICATION_TYPE_API_KEY', id: second.apiKeyId };
      expect(await statusesOf(agent.userId)).toEqual([
        { ...status, satisfied: true, satisfiedMethods: [...status.satisfiedMethods, secondMethod] },
      ]);
      expect(await statusesOf(treasury.root.userId)).toEqual([]);
    });

    test('a key that is shown too early does not count', async () => {
      const { treasury, agent, second } = await openVault();
      const asked = await sign(second, treasury, gift(1n));
      const { id: activityId, fingerprint, status } = asked.activity;
      expect(status).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
      const shown = async () => (await agent.client.getMfaStatus({ activityId })).mfaStatuses[0]?.satisfiedMethods;
      expect(await shown()).toEqual([]);
      await agent.client.approveActivity({ fingerprint });
      expect(await shown()).toHaveLength(1);
      const done = await second.client.approveActivity({ fingerprint });
      expect(done.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    });

    test('the pollers and viem say what is missing', async () => {
      const { treasury, agent } = await openVault();
      const type = 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' as const;
      const poll = createActivityPoller({ client: agent.http, requestFn: agent.http.signTransaction });
      const polled = await failure(poll(requestOf(treasury.id, type, signingOf(treasury, gift(1n)))));
      expect(polled).toBeInstanceOf(HttpActivityError);
      expect(polled).toMatchObject({
        message: expect.stringMatching(/^Authenticators needed for activity /),
        activityStatus: 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED',
        activityType: type,
        activityId: expect.stringMatching(UUID),
      });
      const error = await failure((await accountOf(agent, treasury)).signTransaction(gift(2n)));
      expect(error).toBeInstanceOf(TurnkeyActivityError);
      expect(error).toMatchObject({
        activityStatus: 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED',
        activityId: expect.stringMatching(UUID),
      });
    });

    test('what policies refuse asks for nothing', async () => {
      const { treasury, agent } = await openVault();
      const { activityId } = await denial(sign(agent, treasury, gift(1001n)));
      expect((await agent.client.getMfaStatus({ activityId })).mfaStatuses).toEqual([]);
    });

    test('an approver proves itself before the vote counts', async () => {
      const { treasury, agent, second } = await openVault();
      const proposer = await treasury.hire();
      await treasury.allow({ condition: SIGNS, consensus: `${isUser(proposer)} && ${isUser(agent)}` });
      const { activity } = await sign(proposer, treasury, gift(1n));
      expect(activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
      expect((await proposer.client.getMfaStatus({ activityId: activity.id })).mfaStatuses).toEqual([]);
      const { fingerprint } = activity;
      const half = await agent.client.approveActivity({ fingerprint });
      expect(half.activity.status).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
      const waiting = await proposer.client.getActivity({ activityId: activity.id });
      expect(waiting.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
      const done = await second.client.approveActivity({ fingerprint });
      expect(done.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    });

    test('binds a root user too, until it is taken away', async () => {
      const treasury = await open();
      const { root } = treasury;
      const second = await addKey(service.baseUrl, treasury, root);
      const { mfaPolicyId } = await root.client.createMfaPolicy({
        userId: root.userId,
        mfaPolicyName: 'second key',
        condition: 'true',
        requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_API_KEY', id: second.apiKeyId }] }],
        order: 0,
      });
      const held = await sign(root, treasury, gift(1n));
      expect(held.activity.status).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
      const removal = await root.client.deleteMfaPolicy({ userId: root.userId, mfaPolicyId });
      expect(removal.activity.status).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
      expect((await sign(second, treasury, gift(2n))).activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      const done = await second.client.approveActivity({ fingerprint: removal.activity.fingerprint });
      expect(done.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      expect((await sign(root, treasury, gift(3n))).activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    });

    test('its policies are read, changed and deleted', async () => {
      const { treasury, agent, written, mfaPolicyId } = await openVault();
      const { userId } = agent;
      const { client } = treasury.root;
      expect(mfaPolicyId).toMatch(UUID);
      const { userId: _owner, ...fields } = written;
      const stored = { ...fields, mfaPolicyId, createdAt: TIMESTAMP, updatedAt: TIMESTAMP };
      const { mfaPolicy } = await agent.client.getMfaPolicy({ userId, mfaPolicyId });
      expect(mfaPolicy).toEqual(stored);
      expect((await agent.client.getMfaPolicies({ userId })).mfaPolicies).toEqual([stored]);
      expect((await agent.client.getUser({ userId })).user.mfaPolicies).toEqual([stored]);

      const changed = await client.updateMfaPolicy({ userId, mfaPolicyId, condition: 'false', order: 3 });
      expect(changed.mfaPolicyId).toBe(mfaPolicyId);
      expect((await client.getMfaPolicy({ userId, mfaPolicyId })).mfaPolicy).toEqual({
        ...stored,
        condition: 'false',
        order: 3,
      });
      expect((await sign(agent, treasury, gift(1n))).activity.status).toBe('ACTIVITY_STATUS_COMPLETED');

      expect((await client.deleteMfaPolicy({ userId, mfaPolicyId })).mfaPolicyId).toBe(mfaPolicyId);
      expect((await client.getMfaPolicies({ userId })).mfaPolicies).toEqual([]);
      expect((await refusal(client.getMfaPolicy({ userId, mfaPolicyId }))).code).toBe(5);
    });
  });

  describe('IP allowlists', () => {
    test('of the organization', async () => {
      const { root, id, hire } = await open();
      const { client } = root;
      const agent = await hire();
      const none = { organizationId: id, rules: [], enabled: false, onEvaluationError: 'DENY' };
      expect((await client.getIpAllowlist({})).allowlist).toEqual(none);

      const rules = [{ cidr: '127.0.0.9/8', label: 'here' }, { cidr: '::1/128' }, { cidr: '127.0.0.0/8' }];
      const set = await client.setIpAllowlist({ enabled: true, rules });
      expect(set.activity).toMatchObject({
        status: 'ACTIVITY_STATUS_COMPLETED',
        intent: { setIpAllowlistIntent: { enabled: true, rules } },
        result: { setIpAllowlistResult: {} },
      });
      const createdAt = expect.stringMatching(/^\d{13}$/);
      expect((await client.getIpAllowlist({})).allowlist).toEqual({
        ...none,
        enabled: true,
        rules: [
          { cidr: '127.0.0.0/8', label: 'here', createdAt },
          { cidr: '::1/128', createdAt },
        ],
      });
      expect((await agent.client.getWhoami()).userId).toBe(agent.userId);

      const lockout = await refusal(client.setIpAllowlist({ enabled: true, rules: [{ cidr: '10.0.0.0/8' }] }));
      expect(errorCodeOf(lockout)).toBe('IP_LOCKOUT');
      const malformed = await refusal(client.setIpAllowlist({ enabled: true, rules: [{ cidr: '127.0.0.0/33' }] }));
      expect(malformed.code).toBe(3);
      expect((await client.getIpAllowlist({})).allowlist.rules).toHaveLength(2);

      const removed = await client.removeIpAllowlist({});
      expect(removed.activity.result).toEqual({ removeIpAllowlistResult: {} });
      expect((await client.getIpAllowlist({})).allowlist).toEqual(none);
    });

    test('of one key', async () => {
      const treasury = await open();
      const { client } = treasury.root;
      const agent = await treasury.hire();
      const other = await addKey(service.baseUrl, treasury, agent);
      const { publicKey } = agent.key;
      await treasury.allow({ condition: SIGNS, consensus: isUser(agent) });
      await client.setIpAllowlist({ publicKey, rules: [{ cidr: '10.0.0.0/8', label: 'office' }] });
      const { allowlist } = await client.getIpAllowlist({ publicKey });
      expect(allowlist).toMatchObject({ publicKey, rules: [{ cidr: '10.0.0.0/8', label: 'office' }] });
      expect(allowlist.enabled).toBeUndefined();

      for (const work of [() => agent.client.getWhoami(), () => sign(agent, treasury, gift(1n))]) {
        const error = await refusal(work());
        expect(error.code).toBe(7);
        expect(errorCodeOf(error)).toBe('IP_NOT_ALLOWED');
        // The address rules themselves stay unsaid.
        expect(error.message).not.toContain('10.0.0.0');
      }
      expect((await sign(other, treasury, gift(1n))).activity.status).toBe('ACTIVITY_STATUS_COMPLETED');

      await client.removeIpAllowlist({ publicKey });
      expect((await sign(agent, treasury, gift(2n))).activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      const unknown = { publicKey: `02${'11'.repeat(32)}`, rules: [] };
      expect((await refusal(client.setIpAllowlist(unknown))).code).toBe(5);
    });
  });

  test('session profiles are made by a parent and seen below it', async () => {
    const { root, id } = await open();
    const written = {
      sessionProfileName: fresh('profile'),
      scope: "activity.action == 'SIGN'",
      expirationSeconds: '600',
      notes: 'for signing',
    };
    const { sessionProfileId, activity } = await parent.createSessionProfile(written);
    expect(sessionProfileId).toMatch(UUID);
    expect(activity.result).toEqual({ createSessionProfileResult: { sessionProfileId } });
    const stored = { ...written, sessionProfileId, createdAt: TIMESTAMP, updatedAt: TIMESTAMP };
    for (const client of [parent, root.client]) {
      expect((await client.getSessionProfile({ sessionProfileId })).sessionProfile).toEqual(stored);
      expect((await client.getSessionProfiles({})).sessionProfiles).toContainEqual(stored);
    }
    const { sessionProfile } = await root.http.getSessionProfile({ organizationId: id, sessionProfileId });
    expect(sessionProfile).toEqual(stored);
    const below = await refusal(root.client.createSessionProfile({ ...written, sessionProfileName: fresh('profile') }));
    expect(errorCodeOf(below)).toBe('INVALID_ACTIVITY_CALLER');
    expect((await refusal(parent.getSessionProfile({ sessionProfileId: UNKNOWN_ID }))).code).toBe(5);
  });

  describe('velocity controls', () => {
    type Control = Parameters<Person['http']['createVelocityControl']>[0]['parameters'];

    const control = ({ root, id }: Treasury, parameters: Control) =>
      root.http.createVelocityControl(requestOf(id, 'ACTIVITY_TYPE_CREATE_VELOCITY_CONTROL', parameters));

    const daily = {
      window: { rolling: { duration: '24h' } },
      operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL' as const,
    };
    const threeADay: Control = {
      name: 'three a day',
      identifier: 'three_a_day',
      dataSource: {
        activityExecution: { filter: { activity: [{ activityType: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' }] } },
      },
      aggregation: {
        ...daily,
        method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT',
        threshold: '3',
        groupBy: { user: {} },
      },
    };

    test('are made, read and deleted', async () => {
      const treasury = await open();
      const { root, id } = treasury;
      const { activity } = await control(treasury, threeADay);
      const velocityControlId = activity.result.createVelocityControlResult?.velocityControlId as string;
      expect(velocityControlId).toMatch(UUID);
      const stored = {
        ...threeADay,
        velocityControlId,
        organizationId: id,
        createdAt: TIMESTAMP,
        updatedAt: TIMESTAMP,
        // An addition of ours, off unless it is asked for.
      };
      const found = await root.http.getVelocityControl({ organizationId: id, velocityControlId });
      expect(found.velocityControl).toEqual(stored);
      expect((await root.http.listVelocityControls({ organizationId: id })).velocityControls).toEqual([stored]);
      const twice = await failure(control(treasury, { ...threeADay, name: 'again' }));
      expect(twice).toMatchObject({ code: 6 });

      const removed = await root.http.deleteVelocityControl(
        requestOf(id, 'ACTIVITY_TYPE_DELETE_VELOCITY_CONTROL', { velocityControlId }),
      );
      expect(removed.activity.result.deleteVelocityControlResult).toEqual({ velocityControlId });
      expect((await root.http.listVelocityControls({ organizationId: id })).velocityControls).toEqual([]);
      expect(await failure(root.http.getVelocityControl({ organizationId: id, velocityControlId }))).toMatchObject({
        code: 5,
      });
    });

    test('a number of activities: of those that race exactly so many get through', async () => {
      const treasury = await open();
      const agent = await treasury.hire();
      const other = await treasury.hire();
      await treasury.allow({ condition: SIGNS });
      await control(treasury, threeADay);
      const ends = await Promise.allSettled(
        Array.from({ length: 5 }, (_, index) => sign(agent, treasury, gift(BigInt(index)))),
      );
      const refused = ends.filter((end) => end.status === 'rejected');
      expect(refused).toHaveLength(2);
      for (const { reason } of refused) {
        const error = await refusal(Promise.reject(reason));
        expect(error.code).toBe(7);
        expect(errorCodeOf(error)).toBe('VELOCITY_EXCEEDED');
        expect(error.message).toContain('three a day');
      }
      for (const person of [other, treasury.root]) {
        expect((await sign(person, treasury, gift(9n))).activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      }
    });

    test('an amount of an asset, until the control is deleted', async () => {
      const treasury = await open();
      const { root, id } = treasury;
      const agent = await treasury.hire();
      await treasury.allow({ condition: "activity.action == 'SIGN'", consensus: isUser(agent) });
      const { activity } = await control(treasury, {
        name: 'one ether',
        identifier: 'one_ether',
        dataSource: {
          chainAssetTransfer: {
            definition: [{ caip19: 'eip155:1/slip44:60', decimals: '18' }],
            phase: { signature: {} },
          },
        },
        aggregation: {
          ...daily,
          method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',
          threshold: '1',
          groupBy: { organization: {} },
        },
      });
      const ether = 10n ** 18n;
      const status = async (transaction: TransactionSerializable) =>
        (await sign(agent, treasury, transaction)).activity.status;
      expect(await status(gift((ether * 6n) / 10n))).toBe('ACTIVITY_STATUS_COMPLETED');
      const over = await refusal(sign(agent, treasury, gift((ether * 4n) / 10n + 1n)));
      expect(errorCodeOf(over)).toBe('VELOCITY_EXCEEDED');
      expect(await status(gift((ether * 4n) / 10n))).toBe('ACTIVITY_STATUS_COMPLETED');
      expect(errorCodeOf(await refusal(sign(agent, treasury, gift(1n))))).toBe('VELOCITY_EXCEEDED');
      // Ether of another chain is another asset.
      expect(await status({ ...gift(1n), chainId: CHAIN })).toBe('ACTIVITY_STATUS_COMPLETED');
      const velocityControlId = activity.result.createVelocityControlResult?.velocityControlId as string;
      await root.http.deleteVelocityControl(
        requestOf(id, 'ACTIVITY_TYPE_DELETE_VELOCITY_CONTROL', { velocityControlId }),
      );
      expect(await status(gift(ether))).toBe('ACTIVITY_STATUS_COMPLETED');
    });
  });
});

describe('business hours by a fixed clock', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test('the service signs from nine to five of New York, summer and winter, on working days', async () => {
    // Clients and service share this process here, and with it the clock.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2025-01-03T12:00:00Z') });
    await using app = await openTestApp('sqlite');
    const parent = connect(app.baseUrl, credentialsOf(app.root.organizationId, app.root.key));
    const treasury = await openTreasury(app.baseUrl, parent);
    const agent = await treasury.hire();
    const policyId = await treasury.allow({ condition: SIGNS, consensus: isUser(agent), time: HOURS });

    for (const [instant, isOpen] of INSTANTS) {
      vi.setSystemTime(Date.parse(instant));
      const { statuses, evaluatedAtMs } = await agent.http.getActivePolicies({ organizationId: treasury.id });
      expect([instant, statuses[0]?.active]).toEqual([instant, isOpen]);
      expect(evaluatedAtMs).toBe(String(Date.parse(instant)));
      const work = sign(agent, treasury, gift(1n));
      if (isOpen) expect(await signerOf(`0x${(await work).signedTransaction}`)).toBe(treasury.address);
      else expect((await denial(work)).outcomes).toEqual({ [policyId]: 'OUTCOME_TIME_INACTIVE' });
    }
  });
});
