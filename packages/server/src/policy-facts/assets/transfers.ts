import type { BitcoinTransaction } from '../../chains/bitcoin/bitcoin.ts';
import { ADDRESS_TABLE_LOOKUP } from '../../chains/solana/message.ts';
import type { SolanaTransaction } from '../../chains/solana/solana.ts';
import type { TronTransaction } from '../../chains/tron/tron.ts';
import type { ParsedTransaction } from '../transaction.ts';
import { type AssetTransfer, tronAccountHex } from './caip19.ts';

/**
 * What a transaction moves away from its signer, for limits on amounts (decision 27): native coins and the standard
 * transfers of tokens. Approvals move nothing yet, and what a contract does inside is not known before it runs. Where a chain
 * might read odd data as a transfer, it counts as one: a limit must not be passed by an encoding.
 */
export function assetTransfers(parsed: ParsedTransaction): readonly AssetTransfer[] {
  return movedBy(parsed).filter(({ amount }) => amount > 0n);
}

function movedBy(parsed: ParsedTransaction): readonly AssetTransfer[] {
  switch (parsed.type) {
    case 'TRANSACTION_TYPE_ETHEREUM': {
      const { chainId, to, value, data } = parsed.transaction;
      return ethereumTransfers(chainId, parsed.from, { to, value, data });
    }
    case 'TRANSACTION_TYPE_TEMPO': {
      const { chainId, calls } = parsed.transaction;
      return calls.flatMap(({ to, value, input }) =>
        ethereumTransfers(chainId, parsed.from, { to, value, data: input }),
      );
    }
    case 'TRANSACTION_TYPE_SOLANA':
      return solanaTransfers(parsed.transaction, parsed.signer);
    case 'TRANSACTION_TYPE_TRON':
      return tronTransfers(parsed.transaction);
    case 'TRANSACTION_TYPE_BITCOIN':
      return [bitcoinTransfer(parsed.transaction, parsed.signedScript, parsed.ownScripts)];
  }
}

interface Call {
  /** Lower-case hex with 0x, or the empty string. */
  readonly to: string;
  readonly value: bigint;
  readonly data: string;
}

/** Also for sends, which are calls before they are transactions. `from` is in lower case. */
export function ethereumTransfers(chainId: bigint, from: string, { to, value, data }: Call): readonly AssetTransfer[] {
  if (to === from) return [];
  const chain = {
    chain: 'eip155',
    // Without replay protection the signature is good on every chain.
    chainReference: chainId === 0n ? undefined : String(chainId),
  } as const;
  const native = { ...chain, kind: 'slip44', assetReference: '60', amount: value } as const;
  const amount = tokenAmount(data.slice(2), from.slice(2));
  return to === '' || amount === 0n ? [native] : [native, { ...chain, kind: 'erc20', assetReference: to, amount }];
}

const TRANSFER = 'a9059cbb';
const TRANSFER_FROM = '23b872dd';

/**
 * The amount that a call of transfer or transferFrom of ERC-20 takes from the account. Read as contracts of old compilers
 * read it: data that ends early goes on with zeros, the upper bytes of an address and what follows do not matter.
 */
function tokenAmount(data: string, account: string): bigint {
  const word = (index: number) => data.slice(8 + index * 64, 72 + index * 64).padEnd(64, '0');
  const address = (index: number) => word(index).slice(24);
  const amount = (index: number, from: string, to: string) =>
    from === account && to !== account ? BigInt(`0x${word(index)}`) : 0n;
  switch (data.slice(0, 8)) {
    case TRANSFER:
      return amount(1, account, address(0));
    case TRANSFER_FROM:
      return amount(2, address(0), address(1));
    default:
      return 0n;
  }
}

function tronTransfers({ contract: [contract] }: TronTransaction): readonly AssetTransfer[] {
  const chain = { chain: 'tron', chainReference: undefined } as const;
  const coin = (amount: bigint): AssetTransfer => ({ ...chain, kind: 'slip44', assetReference: '195', amount });
  const trc10 = (reference: string, amount: bigint): AssetTransfer => ({
    ...chain,
    kind: 'trc10',
    assetReference: reference,
    amount,
  });
  const { ownerAddress } = contract;
  switch (contract.type) {
    case 'TransferContract':
      return contract.toAddress === ownerAddress ? [] : [coin(contract.amount)];
    case 'TransferAssetContract':
      return contract.toAddress === ownerAddress ? [] : [trc10(contract.assetName, contract.amount)];
    case 'TriggerSmartContract':
      return [
        coin(contract.callValue),
        trc10(String(contract.tokenId), contract.callTokenValue),
        {
          ...chain,
          kind: 'trc20',
          assetReference: contract.contractAddress,
          amount: tokenAmount(contract.data, tronAccountHex(ownerAddress) ?? ''),
        },
      ];
    case 'FreezeBalanceV2Contract':
    case 'UnfreezeBalanceV2Contract':
    case 'DelegateResourceContract':
    case 'UnDelegateResourceContract':
    case 'AccountPermissionUpdateContract':
      return [];
  }
}

const SYSTEM_PROGRAM = '11111111111111111111111111111111';
// SystemInstruction (Solana, sdk/program/src/system_instruction.rs): new accounts are funded from the first account.
const CREATE_ACCOUNT = 0;
const CREATE_ACCOUNT_WITH_SEED = 3;

function solanaTransfers(tx: SolanaTransaction, signer: string): readonly AssetTransfer[] {
  const chain = { chain: 'solana', chainReference: undefined } as const;
  const signers = new Set(tx.accountKeys.slice(0, tx.header.requiredSignatures));
  // An account that cannot sign is one that was derived from a signer, who may be this one.
  const mayPay = (from: string) => from === signer || !signers.has(from);
  const lamports = [
    ...tx.transfers.filter(({ from, to }) => mayPay(from) && to !== signer).map(({ amount }) => amount),
    ...fundedAccounts(tx)
      .filter(({ from }) => mayPay(from))
      .map(({ amount }) => amount),
  ];
  const tokens = tx.splTransfers.filter(({ owner, signers: members }) => owner === signer || members.includes(signer));
  return [
    ...lamports.map((amount) => ({ ...chain, kind: 'slip44', assetReference: '501', amount }) as const),
    ...tokens.map(({ tokenMint, amount }) => {
      const known = tokenMint !== '' && tokenMint !== ADDRESS_TABLE_LOOKUP;
      return { ...chain, kind: 'token', assetReference: known ? tokenMint : undefined, amount } as const;
    }),
  ];
}

function fundedAccounts(tx: SolanaTransaction): readonly { readonly from: string; readonly amount: bigint }[] {
  return tx.instructions.flatMap(({ programKey, accounts, dataHex }) => {
    if (programKey !== SYSTEM_PROGRAM) return [];
    const data = Buffer.from(dataHex, 'hex');
    const amount = newAccountLamports(data);
    return amount === undefined ? [] : [{ from: accounts[0]?.accountKey ?? '', amount }];
  });
}

/** With a seed, its base address (32 bytes) and its text with a length of eight bytes stand before the amount. */
function newAccountLamports(data: Buffer): bigint | undefined {
  if (data.length < 4) return undefined;
  const kind = data.readUInt32LE(0);
  if (kind === CREATE_ACCOUNT) return amountAt(data, 4n);
  if (kind !== CREATE_ACCOUNT_WITH_SEED) return undefined;
  const seedBytes = amountAt(data, 36n);
  return seedBytes === undefined ? undefined : amountAt(data, 44n + seedBytes);
}

const amountAt = (data: Buffer, offset: bigint): bigint | undefined =>
  offset + 8n > BigInt(data.length) ? undefined : data.readBigUInt64LE(Number(offset));

/** What the signed inputs are worth beyond what comes back to the signer: payments and the fee. */
function bitcoinTransfer(tx: BitcoinTransaction, signedScript: string, own: ReadonlySet<string>): AssetTransfer {
  const spent = tx.inputs.filter(({ scriptPubkey }) => scriptPubkey === signedScript);
  const returned = tx.outputs.filter(({ scriptPubkey }) => own.has(scriptPubkey));
  const amount =
    spent.reduce((sum, input) => sum + input.amount, 0n) - returned.reduce((sum, { value }) => sum + value, 0n);
  return { chain: 'bip122', chainReference: undefined, kind: 'slip44', assetReference: '0', amount };
}
