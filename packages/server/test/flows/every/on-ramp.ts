import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { TestClient } from '../../harness/client.ts';
import {
  newOnRampCredential,
  newPurchase,
  onRampContent,
  onRampParams,
  purchaseParams,
} from '../../hostile/on-ramp.ts';
import { isSigned } from '../fixtures/on-ramp.ts';
import { type ActivityCase, anId, notFound, PAGE_INFO, type QueryCase, TIMESTAMP } from './case.ts';

// Fiat on-ramp in the table of every operation.

const ofProject = async (reader: TestClient, projectId: string) =>
  (await reader.query('list_fiat_on_ramp_credentials')).body.fiatOnRampCredentials.filter(
    (credential: { projectId: string }) => credential.projectId === projectId,
  );
const aCredential = ({ organizationId }: TestClient, params: object) => ({
  fiatOnrampCredentialId: anId,
  organizationId,
  sandboxMode: false,
  ...params,
  createdAt: TIMESTAMP,
  updatedAt: TIMESTAMP,
});

/** What became of each purchase of an organization, by the ids that its activities tell. */
async function purchases(reader: TestClient): Promise<string[]> {
  const { activities } = (await reader.query('list_activities', { filterByType: ['ACTIVITY_TYPE_INIT_FIAT_ON_RAMP'] }))
    .body;
  const statuses: string[] = [];
  for (const { result } of activities) {
    const transactionId = result.initFiatOnRampResult?.onRampTransactionId;
    if (transactionId === undefined) continue;
    statuses.push((await reader.query('get_onramp_transaction_status', { transactionId })).body.transactionStatus);
  }
  return statuses;
}

export const ON_RAMP_CASES: Readonly<Record<string, ActivityCase>> = {
  create_fiat_on_ramp_credential: {
    place: 'parent',
    intentKey: 'createFiatOnRampCredentialIntent',
    resultKey: 'createFiatOnRampCredentialResult',
    arrange: async ({ root }) => {
      const params = await onRampParams(root, randomUUID());
      const found = (reader: TestClient) => ofProject(reader, params.projectId);
      return {
        parameters: params,
        result: { fiatOnRampCredentialId: anId },
        holds: async (reader) => expect(await found(reader)).toEqual([aCredential(root, params)]),
        absent: async (reader) => expect(await found(reader)).toEqual([]),
      };
    },
  },
  update_fiat_on_ramp_credential: {
    place: 'parent',
    intentKey: 'updateFiatOnRampCredentialIntent',
    resultKey: 'updateFiatOnRampCredentialResult',
    arrange: async ({ root }) => {
      const fiatOnrampCredentialId = await newOnRampCredential(root, randomUUID());
      const params = await onRampContent(root, randomUUID());
      const found = (reader: TestClient) => ofProject(reader, params.projectId);
      return {
        parameters: { fiatOnrampCredentialId, ...params },
        result: { fiatOnRampCredentialId: fiatOnrampCredentialId },
        holds: async (reader) =>
          expect(await found(reader)).toEqual([aCredential(root, { ...params, fiatOnrampCredentialId })]),
        absent: async (reader) => expect(await found(reader)).toEqual([]),
      };
    },
    foreign: async ({ root }) =>
      notFound({ fiatOnrampCredentialId: randomUUID(), ...(await onRampContent(root, randomUUID())) }),
  },
  delete_fiat_on_ramp_credential: {
    place: 'parent',
    intentKey: 'deleteFiatOnRampCredentialIntent',
    resultKey: 'deleteFiatOnRampCredentialResult',
    arrange: async ({ root }) => {
      const projectId = randomUUID();
      const fiatOnrampCredentialId = await newOnRampCredential(root, projectId);
      return {
        parameters: { fiatOnrampCredentialId },
        result: { fiatOnRampCredentialId: fiatOnrampCredentialId },
        holds: async (reader) => expect(await ofProject(reader, projectId)).toEqual([]),
        absent: async (reader) => expect(await ofProject(reader, projectId)).toHaveLength(1),
      };
    },
    foreign: async () => notFound({ fiatOnrampCredentialId: randomUUID() }),
  },
  init_fiat_on_ramp: {
    intentKey: 'initFiatOnRampIntent',
    resultKey: 'initFiatOnRampResult',
    arrange: async ({ parent }) => {
      await newOnRampCredential(parent, randomUUID());
      return {
        parameters: purchaseParams(),
        result: {
          onRampUrl: expect.toSatisfy(isSigned, 'a signed link'),
          onRampTransactionId: anId,
          onRampUrlSignature: expect.stringMatching(/^[\w+/]{43}=$/),
        },
        holds: async (reader) => expect(await purchases(reader)).toEqual(['PENDING']),
        absent: async (reader) => expect(await purchases(reader)).toEqual([]),
      };
    },
  },
};

export const ON_RAMP_QUERIES: Readonly<Record<string, QueryCase>> = {
  list_fiat_on_ramp_credentials: {
    place: 'parent',
    parameters: async ({ root }) => {
      await newOnRampCredential(root, 'listed');
      return {};
    },
    answer: ({ root }) => ({
      fiatOnRampCredentials: expect.arrayContaining([
        aCredential(root, {
          onrampProvider: 'FIAT_ON_RAMP_PROVIDER_MOONPAY',
          projectId: 'listed',
          publishableApiKey: expect.any(String),
          encryptedSecretApiKey: expect.any(String),
          encryptedPrivateApiKey: expect.any(String),
        }),
      ]),
      pageInfo: PAGE_INFO,
    }),
  },
  get_onramp_transaction_status: {
    parameters: async ({ root, parent }) => {
      await newOnRampCredential(parent, randomUUID());
      return { transactionId: await newPurchase(root), refresh: true };
    },
    answer: () => ({ transactionStatus: 'PENDING' }),
  },
};
