import type { Place } from '../../api/chains.ts';
import type { Wish } from '../../api/simulation.ts';
import { formatUnits, parseUnits } from '../../lib/amounts.ts';
import { toChecksum, transferData } from '../../lib/evm.ts';
import { solanaKey, solTransfer } from '../../lib/solana.ts';

/** Something that can be sent from an account. */
export interface Asset {
  readonly caip19: string;
  readonly symbol: string;
  readonly decimals: number;
  readonly isNative: boolean;
  /** What the account has of it; undefined while that is not known. */
  readonly balance: bigint | undefined;
}

export type Checked = { readonly address: string } | { readonly error: string } | undefined;

/** An address as somebody pasted it. Undefined for nothing typed. */
export function checkRecipient(text: string, caip2: string): Checked {
  const typed = text.replace(/\s+/gu, '');
  if (typed === '') return undefined;
  return caip2.startsWith('solana:') ? checkSolana(typed) : checkEthereum(typed);
}

function checkEthereum(typed: string): Checked {
  if (!/^0x/i.test(typed)) return { error: 'An address of this chain begins with 0x.' };
  const digits = typed.slice(2);
  const stranger = /[^0-9a-f]/i.exec(digits)?.[0];
  if (stranger !== undefined) return { error: `“${stranger}” is no hex digit.` };
  if (digits.length !== 40) return { error: `It has ${digits.length} digits after 0x; an address has 40.` };
  const checksummed = toChecksum(typed);
  const isMixed = /[a-f]/.test(digits) && /[A-F]/.test(digits);
  if (isMixed && `0x${digits}` !== checksummed) {
    return { error: 'Its capitals do not fit (EIP-55): a digit is mistyped. Copy it again from its source.' };
  }
  if (/^0+$/.test(digits)) return { error: 'This is the zero address: what is sent there is lost.' };
  return { address: checksummed };
}

function checkSolana(typed: string): Checked {
  if (solanaKey(typed) !== undefined) return { address: typed };
  return {
    error: typed.startsWith('0x')
      ? 'An address of Solana does not begin with 0x.'
      : 'This is no address of Solana: it must be 32 bytes in base58.',
  };
}

export type Amount = { readonly value: bigint } | { readonly error: string } | undefined;

/** An amount as somebody typed it, exactly. */
export function checkAmount(text: string, { symbol, decimals, balance }: Asset): Amount {
  const typed = text.trim();
  if (typed === '') return undefined;
  if (/^[0-9]{1,3}(?:\.[0-9]{3})+,/.test(typed))
    return { error: 'Write a point before the decimals, commas between thousands.' };
  if (/,/.test(typed) && !/^[0-9]{1,3}(?:,[0-9]{3})*(?:\.[0-9]*)?$/.test(typed)) {
    return { error: 'Commas stand between thousands; decimals follow a point.' };
  }
  const fraction = /^[0-9,]+\.([0-9]+)$/.exec(typed)?.[1];
  if (fraction !== undefined && fraction.length > decimals) {
    return { error: `${symbol} has ${decimals} decimals; there are ${fraction.length}.` };
  }
  const value = parseUnits(typed, decimals);
  if (value === undefined) return { error: 'This is no amount.' };
  if (value === 0n) return { error: 'Type more than zero.' };
  if (balance !== undefined && value > balance) {
    return { error: `The account has ${formatUnits(balance, decimals)} ${symbol}.` };
  }
  return { value };
}

const tokenAddress = (caip19: string): string => caip19.slice(caip19.lastIndexOf(':') + 1);

/** The request that moves it. */
export function sendWish({ account, chain }: Place, asset: Asset, to: string, value: bigint): Wish | undefined {
  if (chain === undefined) return undefined;
  const { caip2 } = chain;
  if (caip2.startsWith('solana:')) {
    if (!asset.isNative) return undefined;
    return {
      type: 'ACTIVITY_TYPE_SOL_SEND_TRANSACTION_V2',
      parameters: { unsignedTransaction: solTransfer(account.address, to, value), caip2, signWiths: [account.address] },
    };
  }
  const call = asset.isNative
    ? { to, value: String(value) }
    : { to: tokenAddress(asset.caip19), data: transferData(to, value) };
  return {
    type: 'ACTIVITY_TYPE_ETH_SEND_TRANSACTION_V2',
    parameters: { from: account.address, caip2, calls: [call] },
  };
}
