import { treeRoot } from '../../core/model.ts';
import { OrganizationReader } from '../../core/store/organizations.ts';
import { type NameSource, nameSource } from '../../describe/names.ts';
import { EarnReader } from './store.ts';

declare module '../../describe/names.ts' {
  interface NameRecords {
    /** By address in lower case: a fee wrapper of the organization's tree, with what it takes. */
    earnWrapper: {
      readonly symbol: string;
      readonly decimals: number;
      readonly vaultAddress: string;
      readonly caip2: string;
    };
  }
}

export const names: readonly NameSource[] = [
  nameSource('earnWrapper', async ({ read, organizationId }, addresses) => {
    const rootId = treeRoot(await read(OrganizationReader).get(organizationId));
    const found = await Promise.all(addresses.map((address) => read(EarnReader).wrappersAt(rootId, address)));
    return new Map(
      found
        .flat()
        .map(({ wrapperAddress, assetSymbol, assetDecimals, vaultAddress, caip2 }) => [
          wrapperAddress,
          { symbol: assetSymbol, decimals: assetDecimals, vaultAddress, caip2 },
        ]),
    );
  }),
];
