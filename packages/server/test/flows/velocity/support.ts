import { randomUUID } from 'node:crypto';
import { parseEther, serializeTransaction } from 'viem';
import { afterAll, beforeAll } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createSubOrganization, createUser, type TestClient } from '../../harness/client.ts';
import type { DatabaseKind } from '../../harness/databases.ts';
import { COMPLETED, policyFor, Rows } from '../fixtures/access.ts';
import { newWallet } from '../fixtures/wallets.ts';

export const TAG = 'ACTIVITY_TYPE_CREATE_USER_TAG';

export const SIGN = 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2';

export const EXCEEDED = [403, 'VELOCITY_EXCEEDED'];

export const DONE = [200, COMPLETED];

export const ETH = { caip19: 'eip155:1/slip44:60', decimals: '18' };

export const TO = `0x${'35'.repeat(20)}` as const;

interface Limit {
  readonly threshold?: string;
  readonly operator?: string;
  readonly window?: object;
  readonly groupBy?: object;
  /** Activity types; everything when absent. */
  readonly types?: readonly string[];
}

export const aggregation = (method: 'SUM' | 'COUNT', limit: Limit) => ({
  method: `VELOCITY_CONTROL_AGGREGATION_METHOD_${method}`,
  operator: `VELOCITY_CONTROL_AGGREGATION_OPERATOR_${limit.operator ?? 'LESS_THAN_OR_EQUAL'}`,
  threshold: limit.threshold ?? '1',
  window: limit.window ?? { infinite: {} },
  groupBy: limit.groupBy ?? { organization: {} },
});

export const filterOf = ({ types }: Limit) =>
  types === undefined ? {} : { filter: { activity: types.map((activityType) => ({ activityType })) } };

const named = () => ({ name: `control ${randomUUID()}`, identifier: randomUUID() });

/** How often tags may be made, unless told otherwise. */
export const countOf = (limit: Limit = {}) => ({
  ...named(),
  dataSource: { activityExecution: filterOf({ types: [TAG], ...limit }) },
  aggregation: aggregation('COUNT', limit),
});

/** How much of assets may leave. */
export const sumOf = (definition: readonly object[], limit: Limit = {}, method: 'SUM' | 'COUNT' = 'SUM') => ({
  ...named(),
  dataSource: { chainAssetTransfer: { definition, ...filterOf(limit) } },
  aggregation: aggregation(method, limit),
});

export const control = async (root: TestClient, parameters: object): Promise<string> =>
  (await root.run('create_velocity_control', parameters)).velocityControlId;

type Transfer = {
  readonly value?: bigint;
  readonly chainId?: number;
  readonly to?: `0x${string}`;
  readonly data?: `0x${string}`;
};

export const transaction = ({ value = 0n, chainId = 1, to = TO, data = '0x' }: Transfer) =>
  serializeTransaction({
    type: 'eip1559',
    chainId,
    to,
    value,
    data,
    gas: 21_000n,
    maxFeePerGas: 20n,
    maxPriorityFeePerGas: 1n,
  });

export const send = (client: TestClient, signWith: string, transfer: Transfer) =>
  client.submit('sign_transaction', {
    signWith,
    type: 'TRANSACTION_TYPE_ETHEREUM',
    unsignedTransaction: transaction(transfer),
  });

export const eth = (client: TestClient, signWith: string, amount: string, chainId = 1) =>
  send(client, signWith, { value: parseEther(amount), chainId });

/** Opened before the tests of a file, closed after them. */
export function openVelocity(database: DatabaseKind) {
  let service: TestApp;
  let parent: TestClient;
  let rows: Rows;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
    rows = await Rows.open(service.app.config);
  });

  afterAll(async () => {
    await rows?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  const newSpender = async (root: TestClient): Promise<TestClient> => {
    const user = await createUser(root, `spender ${randomUUID()}`);
    await policyFor(root, user);
    return user;
  };

  /** An organization with a user that policies let do everything, and that is not root. */
  async function newOrg(): Promise<{ root: TestClient; user: TestClient }> {
    const root = await createSubOrganization(parent, `Org ${randomUUID()}`);
    return { root, user: await newSpender(root) };
  }

  /** The same with a wallet, and its address. */
  async function newTreasury() {
    const org = await newOrg();
    const { walletId, addresses } = await newWallet(org.root);
    return { ...org, walletId, address: addresses[0] as string };
  }

  return {
    newOrg,
    newTreasury,
    get place() {
      return service.app.config;
    },
    get rows() {
      return rows;
    },
    get parent() {
      return parent;
    },
    newSpender,
  };
}
