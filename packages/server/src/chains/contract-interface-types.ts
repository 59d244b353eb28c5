import type { EthereumInterface } from './ethereum/interface.ts';
import type { SolanaInterface } from './solana/interface.ts';

export type ContractInterface = EthereumInterface | SolanaInterface;

export type ContractInterfaceType = ContractInterface['type'];
