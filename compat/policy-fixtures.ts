// What the tests of policies share: an organization with one signing account, people in it, and how calls end.
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { TurnkeyClient } from '@turnkey/http';
import { defaultEthereumAccountAtIndex, type TurnkeyApiClient, type TurnkeyRequestError } from '@turnkey/sdk-server';
import { type Address, encodeFunctionData, erc20Abi, type TransactionSerializableEIP1559 } from 'viem';
import { type KeyPair, newKeyPair } from '../packages/server/test/harness/client.ts';
import { apiKeyOf, connect, credentialsOf, detailOf, fresh, refusal, userOf } from './sdk.ts';

export const TOKEN: Address = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
export const PAYEE: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const STRANGER: Address = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
export const CHAIN = 8453;

/** Whoever holds a key: the same person in the hands of both clients. */
export interface Person {
  readonly userId: string;
  readonly key: KeyPair;
  readonly client: TurnkeyApiClient;
  readonly http: TurnkeyClient;
}

export interface Treasury {
  readonly id: string;
  readonly root: Person;
  readonly walletId: string;
  /** Its one account, which signs on Ethereum. */
  readonly address: Address;
  readonly hire: (userTags?: string[]) => Promise<Person>;
  readonly tag: (...people: Person[]) => Promise<string>;
  readonly allow: (expressions: Expressions) => Promise<string>;
  readonly deny: (expressions: Expressions) => Promise<string>;
}

export interface Expressions {
  readonly condition?: string;
  readonly consensus?: string;
  readonly time?: string;
}

export function personOf(baseUrl: string, organizationId: string, userId: string, key: KeyPair): Person {
  const stamper = new ApiKeyStamper({ apiPublicKey: key.publicKey, apiPrivateKey: key.privateKey });
  const client = connect(baseUrl, credentialsOf(organizationId, key));
  return { userId, key, client, http: new TurnkeyClient({ baseUrl }, stamper) };
}

/** A sub-organization of its own for one test, so that the policies of tests do not meet. */
export async function openTreasury(baseUrl: string, parent: TurnkeyApiClient): Promise<Treasury> {
  const key = newKeyPair();
  const { subOrganizationId: id, rootUserIds } = await parent.createSubOrganization({
    subOrganizationName: fresh('treasury'),
    rootQuorumThreshold: 1,
    rootUsers: [userOf('root', key)],
  });
  const root = personOf(baseUrl, id, rootUserIds?.[0] as string, key);
  const { walletId, addresses } = await root.client.createWallet({
    walletName: 'treasury',
    accounts: [defaultEthereumAccountAtIndex(0)],
  });
  const decree = async (effect: 'EFFECT_ALLOW' | 'EFFECT_DENY', expressions: Expressions) => {
    const { policyId } = await root.client.createPolicy({
      policyName: fresh('policy'),
      effect,
      notes: '',
      ...expressions,
    });
    return policyId;
  };
  return {
    id,
    root,
    walletId,
    address: addresses[0] as Address,
    hire: async (userTags = []) => {
      const own = newKeyPair();
      const { userIds } = await root.client.createUsers({ users: [{ ...userOf(fresh('user'), own), userTags }] });
      return personOf(baseUrl, id, userIds[0] as string, own);
    },
    tag: async (...people) => {
      const userIds = people.map(({ userId }) => userId);
      return (await root.client.createUserTag({ userTagName: fresh('tag'), userIds })).userTagId;
    },
    allow: (expressions) => decree('EFFECT_ALLOW', expressions),
    deny: (expressions) => decree('EFFECT_DENY', expressions),
  };
}

/** A further API key of the person, with its id. */
export async function addKey(
  baseUrl: string,
  { id, root }: Treasury,
  { userId }: Person,
): Promise<Person & { readonly apiKeyId: string }> {
  const key = newKeyPair();
  const { apiKeyIds } = await root.client.createApiKeys({ userId, apiKeys: [apiKeyOf(key, fresh('key'))] });
  return { ...personOf(baseUrl, id, userId, key), apiKeyId: apiKeyIds[0] as string };
}

export const isUser = ({ userId }: Person): string => `approvers.any(user, user.id == '${userId}')`;

let nonce = 0;

/** A token transfer to the payee, or what a test makes of it; no two are equal. */
export function payment(
  amount: bigint,
  changes: Partial<TransactionSerializableEIP1559> = {},
): TransactionSerializableEIP1559 {
  nonce += 1;
  return {
    type: 'eip1559',
    chainId: CHAIN,
    nonce,
    gas: 90_000n,
    maxFeePerGas: 30n,
    maxPriorityFeePerGas: 2n,
    to: TOKEN,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [PAYEE, amount] }),
    ...changes,
  };
}

/** Plain ether to the payee. */
export const gift = (value: bigint): TransactionSerializableEIP1559 =>
  payment(0n, { to: PAYEE, data: '0x', value, chainId: 1 });

export async function failure(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    (value) => {
      throw new Error(`it was not refused: ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}

export interface Denial {
  readonly error: TurnkeyRequestError;
  readonly message: string;
  readonly activityId: string;
  readonly outcomes: Readonly<Record<string, string>>;
}

interface Evaluation {
  readonly policyId?: string;
  readonly outcome?: string;
}

export const outcomesOf = (evaluations: readonly Evaluation[]): Record<string, string> =>
  Object.fromEntries(evaluations.map(({ policyId, outcome }) => [policyId, outcome]));

/** How a program that uses the server SDK finds out that policies refused it. */
export async function denial(work: Promise<unknown>): Promise<Denial> {
  const error = await refusal(work);
  const detail = detailOf(error, 'errors.v1.PolicyEnginePermissionError');
  if (error.code !== 7 || detail === undefined) throw new Error(`no denial: ${error.message}`);
  return {
    error,
    message: String(detail.message),
    activityId: String(detail.activityId),
    outcomes: outcomesOf(detail.policyEvaluations as Evaluation[]),
  };
}
