import type { OrganizationId } from '../../lib/ids.ts';

/** The contracts that take a fee from deposits of a tree; velocity controls know what they do with tokens. */
export abstract class FeeWrappers {
  abstract wrappers(rootId: OrganizationId): Promise<
    readonly {
      readonly caip2: string;
      readonly wrapperAddress: string;
      readonly assetAddress: string;
    }[]
  >;
}
