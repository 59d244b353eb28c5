// A real Morpho Blue on a local node, compiled from the sources that its npm package brings, with vaults of our own over
// it (contracts/test): one with the views of a Vault V1, one with those of a Vault V2.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  type Abi,
  type Address,
  encodeAbiParameters,
  type Hex,
  keccak256,
  parseUnits,
  zeroAddress,
  zeroHash,
} from 'viem';
import { testArtifact } from './artifacts.ts';
import { type Artifact, type ChainClient, type Deployed, fundedAccount } from './deploy.ts';

export interface MarketParams {
  readonly loanToken: Address;
  readonly collateralToken: Address;
  readonly oracle: Address;
  readonly irm: Address;
  readonly lltv: bigint;
}

export interface MorphoMarket {
  readonly id: Hex;
  readonly params: MarketParams;
}

export interface Morpho {
  readonly morpho: Deployed;
  readonly usdc: Deployed;
  readonly weth: Deployed;
  /** USDC against WETH; a borrower pays as many percent as are borrowed. 40 % are at first. */
  readonly lent: MorphoMarket;
  /** Where nobody can borrow. */
  readonly idle: MorphoMarket;
  readonly metaMorphoFactory: Deployed;
  /** 600,000 USDC in `lent`, 400,000 in `idle`, a fee of 10 % on its yield. */
  readonly metaMorpho: Deployed;
  readonly vaultV2Factory: Deployed;
  /** 400,000 USDC in `lent` through its adapter, 100,000 that it holds itself, a fee of 5 % on its yield. */
  readonly vaultV2: Deployed;
  readonly adapter: Deployed;
  readonly supplier: Address;
  readonly borrower: Address;
  readonly curator: Address;
}

const require = createRequire(import.meta.url);
const SOURCES = ['Morpho', 'mocks/IrmMock', 'mocks/OracleMock'];
const LLTV = parseUnits('0.86', 18);
const usdcUnits = (amount: number) => BigInt(amount) * 10n ** 6n;

export async function deployMorpho(
  chain: ChainClient,
  tokens: { readonly usdc?: Deployed; readonly weth?: Deployed } = {},
): Promise<Morpho> {
  const [owner, curator, supplier, borrower] = [fundedAccount(0), fundedAccount(7), fundedAccount(8), fundedAccount(9)];
  const write = (target: Deployed, name: string, ...args: unknown[]) => chain.write(owner, target, name, args);
  const compiled = readMorpho();
  const morpho = await chain.deploy(compiled.Morpho as Artifact, [owner.address]);
  const irm = await chain.deploy(compiled.IrmMock as Artifact);
  const oracle = await chain.deploy(compiled.OracleMock as Artifact);
  const usdc = tokens.usdc ?? (await chain.deploy(testArtifact('TestToken'), ['USD Coin', 'USDC', 6]));
  const weth = tokens.weth ?? (await chain.deploy(testArtifact('TestToken'), ['Wrapped Ether', 'WETH', 18]));

  // 2,000 USDC for one WETH, in base units of both, times 10^36.
  await write(oracle, 'setPrice', 2_000n * 10n ** 24n);
  for (const address of [irm.address, zeroAddress]) await write(morpho, 'enableIrm', address);
  for (const lltv of [LLTV, 0n]) await write(morpho, 'enableLltv', lltv);
  const open = async (params: MarketParams): Promise<MorphoMarket> => {
    await write(morpho, 'createMarket', params);
    return { id: keccak256(encodeMarket(params)), params };
  };
  const loanToken = usdc.address;
  const nothing = { collateralToken: zeroAddress, oracle: zeroAddress, irm: zeroAddress, lltv: 0n };
  const idle = await open({ loanToken, ...nothing });
  const lent = await open({
    loanToken,
    collateralToken: weth.address,
    oracle: oracle.address,
    irm: irm.address,
    lltv: LLTV,
  });

  const deposit = async (vault: Deployed, amount: number) => {
    await chain.write(supplier, usdc, 'mint', [supplier.address, usdcUnits(amount)]);
    await chain.write(supplier, usdc, 'approve', [vault.address, usdcUnits(amount)]);
    await chain.write(supplier, vault, 'deposit', [usdcUnits(amount), supplier.address]);
  };

  const metaMorphoFactory = await chain.deploy(testArtifact('TestMetaMorphoFactory'), [morpho.address]);
  const metaMorpho = await create(chain, metaMorphoFactory, testArtifact('TestMetaMorpho'), 'createMetaMorpho', [
    owner.address,
    0n,
    usdc.address,
    'Steady USDC',
    'stUSDC',
    zeroHash,
  ]);
  for (const { id } of [lent, idle]) await write(metaMorpho, 'addMarket', id);
  await write(metaMorpho, 'setCurator', curator.address);
  await write(metaMorpho, 'setFee', parseUnits('0.1', 18), owner.address);
  await deposit(metaMorpho, 1_000_000);
  await write(metaMorpho, 'move', usdcUnits(400_000), idle.id);

  const vaultV2Factory = await chain.deploy(testArtifact('TestVaultV2Factory'));
  const vaultV2 = await create(chain, vaultV2Factory, testArtifact('TestVaultV2'), 'createVaultV2', [
    owner.address,
    usdc.address,
    zeroHash,
  ]);
  await write(vaultV2, 'setUp', 'Second USDC', 'sdUSDC', curator.address);
  await write(vaultV2, 'setPerformanceFee', parseUnits('0.05', 18), owner.address);
  const adapter = await chain.deploy(testArtifact('TestMarketAdapter'), [vaultV2.address, morpho.address]);
  await write(vaultV2, 'addAdapter', adapter.address);
  await deposit(vaultV2, 100_000);
  await write(vaultV2, 'setLiquidityAdapterAndData', adapter.address, encodeMarket(lent.params));
  await deposit(vaultV2, 400_000);

  const collateral = parseUnits('1000', 18);
  await chain.write(borrower, weth, 'mint', [borrower.address, collateral]);
  await chain.write(borrower, weth, 'approve', [morpho.address, collateral]);
  await chain.write(borrower, morpho, 'supplyCollateral', [lent.params, collateral, borrower.address, '0x']);
  const debt = usdcUnits(400_000);
  await chain.write(borrower, morpho, 'borrow', [lent.params, debt, 0n, borrower.address, borrower.address]);

  return {
    morpho,
    usdc,
    weth,
    lent,
    idle,
    metaMorphoFactory,
    metaMorpho,
    vaultV2Factory,
    vaultV2,
    adapter,
    supplier: supplier.address,
    borrower: borrower.address,
    curator: curator.address,
  };
}

export function encodeMarket(params: MarketParams): Hex {
  const { loanToken, collateralToken, oracle, irm, lltv } = params;
  const types = ['address', 'address', 'address', 'address', 'uint256'].map((type) => ({ type }));
  return encodeAbiParameters(types, [loanToken, collateralToken, oracle, irm, lltv]);
}

async function create(
  chain: ChainClient,
  factory: Deployed,
  { abi }: Artifact,
  functionName: string,
  args: readonly unknown[],
): Promise<Deployed> {
  const account = fundedAccount(0);
  const { address, abi: factoryAbi } = factory;
  const { result } = await chain.reader.simulateContract({ account, address, abi: factoryAbi, functionName, args });
  await chain.write(account, factory, functionName, args);
  return { address: result as Address, abi: abi as Abi };
}

/** Compiling takes seconds, so it is done once for a version of the sources. */
function readMorpho(): Record<string, Artifact> {
  const manifest = require.resolve('@morpho-org/morpho-blue/package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const folder = join(dirname(manifest), '..', '..', '.cache', 'custos');
  const file = join(folder, `morpho-blue-${version}-solc-0.8.19.json`);
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const compiled = compileMorpho(join(dirname(manifest), 'src'));
  mkdirSync(folder, { recursive: true });
  // Another test may do the same at this moment; neither must read half a file.
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(compiled));
  renameSync(`${file}.${process.pid}`, file);
  return compiled;
}

function compileMorpho(folder: string): Record<string, Artifact> {
  const solc = require('solc-0.8.19') as {
    compile(input: string, callbacks: { import(name: string): { contents: string } }): string;
  };
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const input = {
    language: 'Solidity',
    sources: Object.fromEntries(SOURCES.map((name) => [`${name}.sol`, { content: read(`${name}.sol`) }])),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: (name) => ({ contents: read(name) }) })) as {
    errors?: { severity: string; formattedMessage: string }[];
    contracts: Record<string, Record<string, { abi: Abi; evm: { bytecode: { object: string } } }>>;
  };
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'));
  return Object.fromEntries(
    Object.values(output.contracts)
      .flatMap((contracts) => Object.entries(contracts))
      .map(([name, { abi, evm }]) => [name, { abi, bytecode: `0x${evm.bytecode.object}` }]),
  );
}
