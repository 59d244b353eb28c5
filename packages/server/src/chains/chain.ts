import type { AddressFormat, Curve } from '@custos/keyring';
import type { Namespaces } from '../policy/index.ts';
import type { AssetFee, AssetId, AssetMovements } from './asset-types.ts';
import type { BalanceLevel } from './balances/level.ts';
import type { ChainReader, ReaderObserver } from './balances/reader.ts';
import type { ContractInterface, ContractInterfaceType } from './contract-interface-types.ts';
import type { OwnContracts } from './ethereum/call-movements.ts';
import type { FieldTables } from './field-table.ts';
import type { InterfaceFormat } from './interface-format.ts';
import type { ChainNode, Nodes } from './nodes/node.ts';
import type { NodeOptions } from './nodes/rpc.ts';
import type { Send } from './send/model.ts';
import type { Round } from './send/parts.ts';
import type { SendLookup } from './send/sighting.ts';
import type { ChainAsset, ChainSettings } from './settings.ts';
import type { Candidates, FittedSignable } from './signable.ts';

/**
 * A family of chains, from parsing to sending. `chains/index.ts` has all of them; code elsewhere asks the family of a
 * chain or transaction and never which one it is.
 */
export type Chain = ChainFormat &
  (
    | { readonly network: Network; readonly service: ChainService }
    /** Its transactions are signed, but not sent. */
    | { readonly network?: undefined; readonly service?: undefined }
  );

/** The part of a family that needs no node and no database; the command line uses it too. */
export interface ChainFormat {
  /** Of CAIP-2. Tempo's chains are EVM chains with one more type of transaction. */
  readonly namespace: AssetId['chain'];
  readonly assets: AssetRules;
  readonly transactions: TransactionFormat;
  /** Undefined for a family of which organizations upload no interfaces of contracts. */
  readonly interfaces?: InterfaceFormat<ContractInterface>;
  /** Undefined for a family that CUSTOS_CHAINS does not know. */
  readonly network?: Network | undefined;
}

/** Which assets can be named with CAIP-19. */
export interface AssetRules {
  /** Why a chain's reference names none; undefined for one that does. */
  refuseReference?(chainReference: string): string | undefined;
  /** By kind: the one spelling of an asset's reference, or undefined where it names none. */
  readonly kinds: Readonly<Partial<Record<AssetId['kind'], (reference: string) => string | undefined>>>;
}

export interface InterfaceKey {
  readonly type: ContractInterfaceType;
  readonly address: string;
}

/** How transactions are read, judged, counted and signed. */
export interface TransactionFormat<Parsed extends { readonly type: string } = { readonly type: string }> {
  readonly type: Parsed['type'];
  /** What becomes of each field, by kind of transaction. */
  readonly fields: FieldTables;
  /** Parses an unsigned transaction for its signer; refuses before any key is touched. */
  fit(unsigned: string, signer: Candidates): FittedSignable<Parsed>;
  /** Parses for whoever judges; refuses what the signer would refuse for its form (INVALID_TRANSACTION). */
  read(unsigned: string, signer: Candidates): Parsed;
  /** The contracts whose interfaces, if the organization has any, say more about the transaction. */
  interfacesNeeded(parsed: Parsed): readonly InterfaceKey[];
  /** What policies see. Interfaces of other contracts make no difference. */
  namespaces(parsed: Parsed, interfaces: readonly ContractInterface[]): Namespaces;
  /** Calls inside it that are judged as transactions of their own. */
  batched(parsed: Parsed): readonly Parsed[];
  /** What velocity controls count. */
  movements(parsed: Parsed, own: OwnContracts): AssetMovements;
  /** Whether the movements depend on the contracts of the service. */
  needsOwnContracts(parsed: Parsed): boolean;
  /** The most that the signer may be charged; amounts of zero are left out later. */
  fees(parsed: Parsed): readonly AssetFee[];
}

/** The chains of a family that an operator can configure: names, addresses, assets and settings. */
export interface Network {
  readonly namespace: ChainSettings['namespace'];
  /** Behind the colon of CAIP-2, as the settings have it. */
  readonly reference: ReferenceForm;
  /** The same as requests have it, which may use aliases. */
  readonly requestReference: ReferenceForm;
  /** The one spelling of a reference: no alias, and no longer than CAIP-2 allows. */
  canonicalReference(reference: string): string;
  /** What the chain takes its fees in. */
  readonly coin: Pick<ChainAsset, 'symbol' | 'name' | 'decimals'> & {
    /** SLIP-44. */
    readonly type: string;
    /** Its smallest units in a billionth of it. */
    readonly smallestPerBillionth: bigint;
  };
  /** Of CAIP-19. */
  readonly tokenStandard: string;
  readonly address: AddressRules;
  readonly operatorKeyText: {
    readonly expected: string;
    readonly mayBeBase58: boolean;
  };
  /** Settings that other families do not have. */
  readonly ownSettings: readonly string[];
  /** Settings without which the operator cannot pay for sends of others. */
  readonly sponsorSettings: readonly (keyof ChainSettings)[];
  /** Whether Earn knows vaults on its chains. */
  readonly hasVaults: boolean;
  /** How the status of a send names its transaction. */
  hashFields(txHash: string | undefined): HashFields;
}

export interface HashFields {
  readonly eth?: { readonly txHash?: string };
  readonly solana?: { readonly signature?: string };
}

export interface ReferenceForm {
  readonly pattern: string;
  /** For messages. */
  readonly shown: string;
}

export interface AddressRules {
  readonly curve: Curve;
  readonly format: AddressFormat;
  /** Of addresses and of the contracts that tokens are. */
  readonly pattern: string;
  isAddress(text: string): boolean;
  /** What a text that is none must be. */
  readonly expected: string;
  /** Whether it contradicts its own checksum. */
  isMistyped(address: string): boolean;
  /** As addresses are stored and compared. */
  canonical(address: string): string;
  /** As addresses are answered. */
  shown(address: string): string;
}

export interface Balance {
  readonly asset: ChainAsset;
  readonly amount: bigint;
  readonly tokenProgram?: string;
}

/** What needs nodes: sending, and knowing what addresses hold. */
export interface ChainService {
  openNode(chain: ChainSettings, options: NodeOptions): ChainNode;
  /** One look at the sends of an address: what is out is followed, what waits is begun in its order. */
  round(round: Round, open: readonly Send[], isPoked: boolean): Promise<void>;
  /** Finds out what became of sends after the backup that a database was restored from. */
  openLookup(nodes: Nodes, chain: ChainSettings, options: NodeOptions): SendLookup;
  /** Reads the changes of balances, block by block. */
  reader(nodes: Nodes, caip2: string, level: BalanceLevel, observe: ReaderObserver): ChainReader;
  /** The native asset first, then the configured tokens that the address has any of. */
  balances(nodes: Nodes, caip2: string, address: string): Promise<readonly Balance[]>;
}
