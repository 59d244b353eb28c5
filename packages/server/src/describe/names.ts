import type { InterfaceCache } from '../chains/contract-interface.ts';
import type { ContractInterface } from '../chains/contract-interface-types.ts';
import type { OrganizationId } from '../lib/ids.ts';
import type { ReadStores } from '../storage/stores.ts';
import { listOf, named, strong, type TextPart } from './text.ts';

/** What sentences can look up, by kind. Each domain adds the kinds that it has. */
export interface NameRecords {
  /** By address in its one spelling, or by the id of an account or private key. */
  signer: SignerRecord;
  /** By type and address, see `interfaceKey`. */
  contractInterface: InterfaceRecord;
  /** By chain and address, see `paymentKey`. Undefined only for what was not looked up. */
  payment: PaymentRecord;
}

/** An account or private key of the organization. */
export interface SignerRecord {
  readonly name: string;
  readonly address: string;
  readonly walletId?: string;
  readonly curve: 'CURVE_SECP256K1' | 'CURVE_ED25519' | 'CURVE_P256';
  readonly publicKey: string;
  readonly addressFormat: string;
  /** Every address of a private key that is named by its id. */
  readonly addresses?: readonly { readonly address: string; readonly addressFormat: string }[];
}

/** A contract that the organization has an interface of. */
export interface InterfaceRecord {
  readonly label: string;
  readonly contract: ContractInterface;
  readonly uploadedAtMs: number;
}

/** How often the organization has paid an address on a chain. */
export interface PaymentRecord {
  readonly count: number;
  readonly sinceMs?: number;
  /** Since when payments are counted, where the organization is older than that. */
  readonly countedSinceMs?: number;
  /** Another address, paid before on any chain or owned, that looks the same at both ends. */
  readonly alike?: { readonly address: string; readonly name?: string };
}

export type NameKind = keyof NameRecords;

/** Undefined for what the organization does not have, or has no more. */
export interface Names {
  get<Kind extends NameKind>(kind: Kind, key: string): NameRecords[Kind] | undefined;
}

export interface NameContext {
  readonly read: ReadStores;
  readonly organizationId: OrganizationId;
  readonly interfaces: InterfaceCache;
}

/** Where the names of a kind come from: all that are asked for in one go, and of one organization alone. */
export interface NameSource<Kind extends NameKind = NameKind> {
  readonly kind: Kind;
  load(context: NameContext, keys: readonly string[]): Promise<ReadonlyMap<string, NameRecords[Kind]>>;
}

/** A source whose kind and records belong together. */
export const nameSource = <Kind extends NameKind>(kind: Kind, load: NameSource<Kind>['load']): NameSource =>
  ({ kind, load }) as unknown as NameSource;

export const interfaceKey = (type: ContractInterface['type'], address: string): string => `${type} ${address}`;

/** The family stands for the chain where a transaction names none. The address is in its one spelling. */
export const paymentKey = (chain: string, address: string): string => `${chain} ${address}`;

/** Kinds whose records have a name of their own. */
type NamedKind = { [Kind in NameKind]: NameRecords[Kind] extends { readonly name: string } ? Kind : never }[NameKind];

/** The name of something by its id; what is not there, or no more, is called by its id. */
export function nameOf(names: Names, kind: NamedKind, id: string): TextPart {
  const found = names.get(kind, id) as { readonly name: string } | undefined;
  return found === undefined ? strong(shortId(id)) : named(found.name);
}

/** The beginning of an id. */
export const shortId = (id: string): string => (id.length <= 8 ? id : `${id.slice(0, 8)}…`);

/** The names of several, as a list. */
export const namesOf = (names: Names, kind: NamedKind, ids: readonly string[]): readonly TextPart[] =>
  listOf(ids.map((id) => nameOf(names, kind, id)));
