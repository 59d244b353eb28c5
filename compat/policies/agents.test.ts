import { Keypair, PublicKey, Transaction as SolanaTransaction, SystemProgram } from '@solana/web3.js';
import { TurnkeySigner as EthersSigner } from '@turnkey/ethers';
import { getSignedTransactionFromActivity, TurnkeyRequestError as HttpRequestError } from '@turnkey/http';
import { defaultSolanaAccountAtIndex } from '@turnkey/sdk-server';
import { TurnkeySigner as SolanaSigner } from '@turnkey/solana';
import { isTurnkeyActivityError, TurnkeyActivityError } from '@turnkey/viem';
import { Transaction } from 'ethers';
import {
  encodeFunctionData,
  erc20Abi,
  type Hex,
  keccak256,
  type LocalAccount,
  serializeTransaction,
  type TransactionSerializableEIP1559,
  type TransactionSerializableLegacy,
} from 'viem';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  CHAIN,
  denial,
  failure,
  isUser,
  outcomesOf,
  PAYEE,
  type Person,
  payment,
  STRANGER,
  TOKEN,
  type Treasury,
} from '../policy-fixtures.ts';
import { refusal } from '../sdk.ts';
import { accountOf, openPolicies, requestOf, sign, signerOf, signingOf, TIMESTAMP, UUID } from './support.ts';

const LIMIT = 1_000_000n;

/** One function of one contract, one payee, one chain, up to an amount. */
const ALLOWANCE = [
  `eth.tx.to == '${TOKEN}'`,
  "eth.tx.function_name == 'transfer'",
  `eth.tx.contract_call_args['recipient'] == '${PAYEE}'`,
  `eth.tx.contract_call_args['amount'] <= ${LIMIT}`,
  'eth.tx.value == 0',
  `eth.tx.chain_id == ${CHAIN}`,
].join(' && ');

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
describe.each(['postgres'] as const)('on %s', (database) => {
  const suite = openPolicies(database);
  const { open, evaluationsOf } = suite;

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
});
