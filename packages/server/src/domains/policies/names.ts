import type { ContractInterfaceType } from '../../core/model.ts';
import { interfaceKey, type NameSource, nameSource } from '../../describe/names.ts';
import { tableSource } from '../../describe/record-reader.ts';
import type { PolicyText } from '../../describe/sentence.ts';
import { groupBy } from '../../lib/collections.ts';
import { ContractInterfaceReader } from './store/contract-interfaces.ts';

declare module '../../describe/names.ts' {
  interface NameRecords {
    policy: PolicyText & { readonly name: string };
    velocityControl: { readonly name: string };
    /** By id. */
    uploadedInterface: { readonly name: string; readonly address: string };
  }
}

export const names: readonly NameSource[] = [
  nameSource('contractInterface', async ({ read, organizationId, interfaces }, keys) => {
    const byType = groupBy(
      keys.map((key) => key.split(' ') as [ContractInterfaceType, string]),
      ([type]) => type,
    );
    const found = await Promise.all(
      [...byType].map(([type, wanted]) =>
        read(ContractInterfaceReader).ofAddresses(
          organizationId,
          type,
          wanted.map(([, address]) => address),
        ),
      ),
    );
    return new Map(
      found.flat().map(({ id, type, address, definition, label, createdAtMs }) => {
        const contract = interfaces.read({ id, type, address, text: definition });
        return [interfaceKey(type, contract.address), { label, contract, uploadedAtMs: createdAtMs }];
      }),
    );
  }),
  tableSource('policy', 'policy', ['name', 'effect', 'condition', 'consensus', 'time', 'notes'], (row) => ({
    name: row['name'] as string,
    policyName: row['name'] as string,
    effect: row['effect'] as string,
    condition: row['condition'] as string,
    consensus: row['consensus'] as string,
    time: row['time'] as string,
    notes: row['notes'] as string,
  })),
  tableSource('velocityControl', 'velocity_control', ['name'], (row) => ({ name: row['name'] as string })),
  tableSource('uploadedInterface', 'contract_interface', ['label', 'address'], (row) => ({
    name: row['label'] as string,
    address: row['address'] as string,
  })),
];
