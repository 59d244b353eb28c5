import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import {
  allowlistParams,
  idleContractParams,
  idleControlParams,
  newContractInterface,
  newVelocityControl,
} from '../../../../test/fixtures/rules.ts';
import { createUser, type TestClient } from '../../../../test/harness/client.ts';
import type { DomainCases } from '../../../../test/operations/domain-cases.ts';
import { anId, gone, notFound, PAGE_INFO, TIMES } from '../../../../test/operations/every-case.ts';
import { byRoot, fresh } from '../../../../test/operations/hostile-case.ts';
import type { Tenant } from '../../../../test/operations/tenant.ts';

const allowlist = async (reader: TestClient, publicKey?: string) =>
  (await reader.query('get_ip_allowlist', { publicKey })).body.allowlist;

const noAllowlist = ({ organizationId }: TestClient) => ({
  organizationId,
  rules: [],
  enabled: false,
  onEvaluationError: 'DENY',
});

/** Blocks with host bits, and one of them twice. */
const RULES = [
  { cidr: '127.0.0.9/8', label: 'here' },
  { cidr: '::1' },
  { cidr: '2001:db8::ffff/32' },
  { cidr: '127.9.9.9/8', label: 'again' },
];

const STORED_RULES = [{ cidr: '127.0.0.0/8', label: 'here' }, { cidr: '::1/128' }, { cidr: '2001:db8::/32' }].map(
  (rule) => ({ ...rule, createdAt: expect.stringMatching(/^\d{13}$/) }),
);

const ABI = JSON.stringify([
  { type: 'function', name: 'transfer', inputs: [{ name: 'to', type: 'address' }], outputs: [] },
]);

const contractParams = () => ({
  smartContractAddress: `0xAb${randomUUID().replaceAll('-', '')}AbAbAb`,
  smartContractInterface: ABI,
  type: 'SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM',
  label: 'Token',
  notes: 'because',
});

const aContract = ({ organizationId }: TestClient, params: Record<string, unknown>) => ({
  organizationId,
  smartContractInterfaceId: anId,
  ...params,
  ...TIMES,
});

const contracts = async (reader: TestClient) =>
  (await reader.query('list_smart_contract_interfaces')).body.smartContractInterfaces;

const newContract = async (client: TestClient): Promise<string> =>
  (await client.run('create_smart_contract_interface', contractParams())).smartContractInterfaceId;

const controlParams = () => ({
  name: 'Ether',
  dataSource: {
    chainAssetTransfer: {
      definition: [{ caip19: 'eip155:1/slip44:60', decimals: '18' }],
      filter: { activity: [{ activityType: 'ACTIVITY_TYPE_SIGN_TRANSACTION_V2' }] },
      phase: { signature: {} },
    },
  },
  aggregation: {
    method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM',
    operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
    threshold: '1.5',
    window: { rolling: { duration: '24h' } },
    groupBy: { wallet: {} },
  },
  identifier: `ether ${randomUUID()}`,
});

const aControl = ({ organizationId }: TestClient, params: Record<string, unknown>) => ({
  velocityControlId: anId,
  organizationId,
  ...params,
  ...TIMES,
});

const controls = async (reader: TestClient) => (await reader.query('list_velocity_controls')).body.velocityControls;

const newControl = async (client: TestClient): Promise<string> =>
  (await client.run('create_velocity_control', controlParams())).velocityControlId;

/** A key of a user who does nothing, with a list of its own. */
async function limitedKey(tenant: Tenant): Promise<string> {
  const { key } = await createUser(tenant.root, fresh(tenant));
  await tenant.root.run('set_ip_allowlist', { publicKey: key.publicKey, ...allowlistParams(fresh(tenant)) });
  return key.publicKey;
}

export const limitCases: DomainCases = {
  set_ip_allowlist: {
    activity: {
      intentKey: 'setIpAllowlistIntent',
      resultKey: 'setIpAllowlistResult',
      arrange: async ({ root }) => ({
        parameters: { enabled: true, rules: RULES, onEvaluationError: 'ALLOW' },
        result: {},
        holds: async (reader) =>
          expect(await allowlist(reader)).toEqual({
            organizationId: root.organizationId,
            rules: STORED_RULES,
            enabled: true,
            onEvaluationError: 'ALLOW',
          }),
        absent: async (reader) => expect(await allowlist(reader)).toEqual(noAllowlist(root)),
      }),
      foreign: async (_world, other) => {
        const { publicKey } = other.plain.key;
        // Their own key is theirs to limit.
        await other.root.run('set_ip_allowlist', { publicKey, rules: RULES });
        return notFound({ publicKey, rules: [] });
      },
    },
    hostile: byRoot(async (tenant) => ({
      publicKey: await limitedKey(tenant),
      ...allowlistParams(fresh(tenant)),
    })),
    ids: { publicKey: ['publicKey'] },
  },
  remove_ip_allowlist: {
    activity: {
      intentKey: 'removeIpAllowlistIntent',
      resultKey: 'removeIpAllowlistResult',
      arrange: async ({ root, plain }) => {
        const { publicKey } = plain.key;
        const { organizationId } = root;
        await root.run('set_ip_allowlist', { publicKey: publicKey.toUpperCase(), rules: RULES });
        const empty = { organizationId, rules: [], publicKey, onEvaluationError: 'DENY' };
        return {
          parameters: { publicKey },
          result: {},
          holds: async (reader) => expect(await allowlist(reader, publicKey)).toEqual(empty),
          absent: async (reader) =>
            expect(await allowlist(reader, publicKey)).toEqual({ ...empty, rules: STORED_RULES }),
        };
      },
    },
    hostile: byRoot(async (tenant) => ({ publicKey: await limitedKey(tenant), allowLockout: false })),
  },
  create_smart_contract_interface: {
    activity: {
      intentKey: 'createSmartContractInterfaceIntent',
      resultKey: 'createSmartContractInterfaceResult',
      arrange: async ({ root }) => {
        const params = contractParams();
        return {
          parameters: params,
          result: { smartContractInterfaceId: anId },
          holds: async (reader) => expect(await contracts(reader)).toEqual([aContract(root, params)]),
          absent: async (reader) => expect(await contracts(reader)).toEqual([]),
        };
      },
    },
    hostile: byRoot((tenant) => idleContractParams(fresh(tenant))),
  },
  delete_smart_contract_interface: {
    activity: {
      intentKey: 'deleteSmartContractInterfaceIntent',
      resultKey: 'deleteSmartContractInterfaceResult',
      arrange: async ({ root }) => {
        const parameters = { smartContractInterfaceId: await newContract(root) };
        return { parameters, result: parameters, ...gone('get_smart_contract_interface', parameters) };
      },
      foreign: async (_world, other) => notFound({ smartContractInterfaceId: await newContract(other.root) }),
    },
    hostile: byRoot(async (tenant) => ({
      smartContractInterfaceId: await newContractInterface(tenant.root, fresh(tenant)),
    })),
  },
  create_velocity_control: {
    activity: {
      intentKey: 'createVelocityControlIntent',
      resultKey: 'createVelocityControlResult',
      arrange: async ({ root }) => {
        const params = controlParams();
        return {
          parameters: params,
          result: { velocityControlId: anId },
          holds: async (reader) => expect(await controls(reader)).toEqual([aControl(root, params)]),
          absent: async (reader) => expect(await controls(reader)).toEqual([]),
        };
      },
    },
    hostile: byRoot((tenant) => idleControlParams(fresh(tenant))),
  },
  delete_velocity_control: {
    activity: {
      intentKey: 'deleteVelocityControlIntent',
      resultKey: 'deleteVelocityControlResult',
      arrange: async ({ root }) => {
        const parameters = { velocityControlId: await newControl(root) };
        return { parameters, result: parameters, ...gone('get_velocity_control', parameters) };
      },
      foreign: async (_world, other) => notFound({ velocityControlId: await newControl(other.root) }),
    },
    hostile: byRoot(async (tenant) => ({
      velocityControlId: await newVelocityControl(tenant.root, fresh(tenant)),
    })),
  },
  get_ip_allowlist: {
    query: {
      parameters: async ({ root }) => {
        await root.run('set_ip_allowlist', { enabled: false, rules: RULES });
        return {};
      },
      answer: ({ root }) => ({ allowlist: { ...noAllowlist(root), rules: STORED_RULES } }),
    },
    hostile: byRoot((tenant) => ({ publicKey: tenant.ids.publicKey })),
  },
  get_smart_contract_interface: {
    query: {
      parameters: async ({ root }) => ({ smartContractInterfaceId: await newContract(root) }),
      answer: ({ root }) => ({
        smartContractInterface: aContract(root, {
          ...contractParams(),
          smartContractAddress: expect.stringMatching(/^0xAb/),
        }),
      }),
    },
    hostile: byRoot((tenant) => ({ smartContractInterfaceId: tenant.ids.contractInterface })),
  },
  list_smart_contract_interfaces: {
    query: {
      parameters: async ({ root }) => {
        await newContract(root);
        return {};
      },
      answer: () => ({ smartContractInterfaces: [expect.objectContaining({ label: 'Token' })], pageInfo: PAGE_INFO }),
    },
    hostile: byRoot(() => ({})),
  },
  get_velocity_control: {
    query: {
      parameters: async ({ root }) => ({ velocityControlId: await newControl(root) }),
      answer: ({ root }) => ({
        velocityControl: aControl(root, { ...controlParams(), identifier: expect.stringMatching(/^ether /) }),
      }),
    },
    hostile: byRoot((tenant) => ({ velocityControlId: tenant.ids.velocityControl })),
  },
  list_velocity_controls: {
    query: {
      parameters: async ({ root }) => {
        await newControl(root);
        return {};
      },
      answer: () => ({ velocityControls: [expect.objectContaining({ name: 'Ether' })], pageInfo: PAGE_INFO }),
    },
    hostile: byRoot(() => ({})),
  },
  list_velocity_usage: {
    query: {
      parameters: async ({ root }) => {
        await newControl(root);
        return {};
      },
      answer: () => ({
        usage: [
          {
            velocityControlId: anId,
            name: 'Ether',
            aggregate: '0',
            threshold: '1.5',
            operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
            windowSeconds: 86_400,
            groups: [],
            text: '0 of 1.5\u00a0ETH used in the last 24 hours, by each wallet',
          },
        ],
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot(() => ({})),
  },
};
