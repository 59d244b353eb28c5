import { APTOS } from './aptos.ts';
import { BITCOIN } from './bitcoin.ts';
import { COSMOS } from './cosmos.ts';
import { DOGE_MAINNET, DOGE_TESTNET } from './doge.ts';
import { ETHEREUM } from './ethereum.ts';
import type { Format } from './format.ts';
import { COMPRESSED, UNCOMPRESSED } from './plain.ts';
import { SEI } from './sei.ts';
import { SOLANA } from './solana.ts';
import { SPARK_MAINNET, SPARK_REGTEST } from './spark.ts';
import { SUI } from './sui.ts';
import { TON_V3R2, TON_V4R2, TON_V5R1 } from './ton.ts';
import { TRON } from './tron.ts';
import { XLM } from './xlm.ts';
import { XRP } from './xrp.ts';

/** Every address format. Clients see this order in the wire enum, so a new one goes to the end. */
export const FORMATS = [
  UNCOMPRESSED,
  COMPRESSED,
  ETHEREUM,
  SOLANA,
  COSMOS,
  TRON,
  SUI,
  APTOS,
  ...BITCOIN,
  SEI,
  XLM,
  DOGE_MAINNET,
  DOGE_TESTNET,
  TON_V3R2,
  TON_V4R2,
  TON_V5R1,
  XRP,
  SPARK_MAINNET,
  SPARK_REGTEST,
] as const satisfies readonly Format[];

export type AddressFormat = (typeof FORMATS)[number]['name'];
