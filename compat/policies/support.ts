// Policies, MFA, IP lists, session profiles and velocity controls as the unmodified client packages use them: what a
// policy allows is signed and verifies, what it refuses arrives as the error by which these packages know a refusal.

import type { TurnkeyApiClient } from '@turnkey/sdk-server';
import { createAccount } from '@turnkey/viem';
import { type LocalAccount, recoverTransactionAddress, serializeTransaction, type TransactionSerializable } from 'viem';
import { afterAll, beforeAll, expect } from 'vitest';
import type { DatabaseKind } from '../../packages/server/test/harness/databases.ts';
import { TestServer } from '../../packages/server/test/harness/server.ts';
import { openTreasury, type Person, type Treasury } from '../policy-fixtures.ts';
import { connect } from '../sdk.ts';

export const SIGNS = "activity.kind == 'SIGN_TRANSACTION'";

export const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;

export const TIMESTAMP = { seconds: expect.stringMatching(/^\d+$/), nanos: expect.stringMatching(/^\d+$/) };

export const accountOf = ({ client }: Person, { id, address }: Treasury): Promise<LocalAccount> =>
  createAccount({ client, organizationId: id, signWith: address });

/** The parameters of a signing request, for the clients that do not build transactions themselves. */
export const signingOf = ({ address }: Treasury, transaction: TransactionSerializable) => ({
  signWith: address,
  type: 'TRANSACTION_TYPE_ETHEREUM' as const,
  unsignedTransaction: serializeTransaction(transaction).slice(2),
});

export const sign = ({ client }: Person, treasury: Treasury, transaction: TransactionSerializable) =>
  client.signTransaction(signingOf(treasury, transaction));

export const signerOf = (signed: string) =>
  recoverTransactionAddress({ serializedTransaction: signed as `0x02${string}` });

/** The body of a submit for the low-level client, which leaves it to its caller. */
export const requestOf = <T extends string, P>(organizationId: string, type: T, parameters: P) => ({
  type,
  timestampMs: String(Date.now()),
  organizationId,
  parameters,
});

/** Opened before the tests of a file, closed after them. */
export function openPolicies(database: DatabaseKind) {
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

  return {
    open,
    evaluationsOf,
    get service() {
      return service;
    },
    get parent() {
      return parent;
    },
  };
}
