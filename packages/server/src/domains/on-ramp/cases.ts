import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import {
  newOnRampCredential,
  newPurchase,
  onRampContent,
  onRampParams,
  purchaseParams,
} from '../../../test/fixtures/on-ramp-purchases.ts';
import { isSigned } from '../../../test/flows/fixtures/on-ramp.ts';
import type { TestClient } from '../../../test/harness/client.ts';
import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { anId, notFound, PAGE_INFO, TIMESTAMP } from '../../../test/operations/every-case.ts';
import { byRoot, fresh } from '../../../test/operations/hostile-case.ts';
import type { Tenant } from '../../../test/operations/tenant.ts';

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

/** A credential that may be spoiled; only parents have any. */
const spareCredential = async (tenant: Tenant): Promise<string> =>
  tenant.scope === 'parent' ? await newOnRampCredential(tenant.root, fresh(tenant)) : tenant.ids.onRampCredential;

export const cases: DomainCases = {
  create_fiat_on_ramp_credential: {
    activity: {
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
    hostile: byRoot((tenant) => onRampParams(tenant.root, fresh(tenant))),
  },
  update_fiat_on_ramp_credential: {
    activity: {
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
    hostile: byRoot(async (tenant) => ({
      fiatOnrampCredentialId: await spareCredential(tenant),
      ...(await onRampContent(tenant.root, fresh(tenant))),
    })),
  },
  delete_fiat_on_ramp_credential: {
    activity: {
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
    hostile: byRoot(async (tenant) => ({ fiatOnrampCredentialId: await spareCredential(tenant) })),
  },
  init_fiat_on_ramp: {
    activity: {
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
    hostile: byRoot(() => purchaseParams()),
  },
  list_fiat_on_ramp_credentials: {
    query: {
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
    hostile: byRoot(() => ({})),
  },
  get_onramp_transaction_status: {
    query: {
      parameters: async ({ root, parent }) => {
        await newOnRampCredential(parent, randomUUID());
        return { transactionId: await newPurchase(root), refresh: true };
      },
      answer: () => ({ transactionStatus: 'PENDING' }),
    },
    hostile: byRoot(({ ids }) => ({ transactionId: ids.onRampTransaction, refresh: true })),
  },
};
