import type { ParsedBitcoin } from '../../chains/bitcoin/parsed.ts';
import { sha256, toHex } from '../../lib/encoding.ts';
import type { Sentence, SentenceContext } from '../sentence.ts';
import { counted, listOf, say, strong } from '../text.ts';
import { addressPart, amount, amountText } from '../values.ts';
import { cautionOf, chainPart, historyText, partyPart, recipientOf, senderOf, signerPart } from './parties.ts';

const BTC = { symbol: 'BTC', decimals: 8 };

/** What leaves the account; change that comes back to it is none of it. */
export function bitcoinSentence(
  context: SentenceContext,
  { transaction, signedScript, ownScripts }: ParsedBitcoin,
  unsigned: string,
  signWith: string,
): Sentence {
  const caip2 = 'bip122';
  const paid = transaction.outputs.filter(({ scriptPubkey }) => !ownScripts.has(scriptPubkey));
  const recipients = paid.flatMap(({ address }) => (address === '' ? [] : [recipientOf(context, address)]));
  const cautions = recipients.flatMap((recipient) => cautionOf(context, recipient) ?? []);
  const scripts = paid.filter(({ address }) => address === '');
  const from = signerPart(context, signWith);
  const where = say` on ${chainPart(caip2)}`;
  const total = paid.reduce((sum, { value }) => sum + value, 0n);
  const foreign = transaction.inputs.filter(({ scriptPubkey }) => scriptPubkey !== signedScript).length;
  const fee = say`, with a fee of ${amount(transaction.fee, BTC)}`;
  const shared =
    foreign === 0 ? say`` : say`; ${counted(foreign, 'input')} of others ${foreign === 1 ? 'is' : 'are'} in it`;
  const [only] = paid;
  const parties = paid.map(
    ({ address, value }) =>
      say`${amount(value, BTC)} to ${address === '' ? strong('a script without an address') : partyPart(context, address)}`,
  );
  const parts =
    only === undefined
      ? say`Move coins of ${from} within itself${where}${fee}${shared}.`
      : paid.length === 1
        ? say`Send ${amount(only.value, BTC)} from ${from}${where}${fee}${shared} to ${only.address === '' ? strong('a script without an address') : partyPart(context, only.address)}${cautions[0]?.words ?? []}.`
        : say`Send ${amount(total, BTC)} from ${from}${where}: ${listOf(parties)}${fee}${shared}.`;
  const marks = [
    ...cautions.map(({ mark }) => mark),
    ...(scripts.length > 0 ? [{ risk: 'LOOK_CLOSELY' as const, text: 'pays a script without an address' }] : []),
    ...(foreign > 0 ? [{ risk: 'LOOK_CLOSELY' as const, text: 'others sign inputs of it too' }] : []),
  ];
  const consequence =
    cautions[0]?.consequence ?? (marks.length === 0 ? undefined : 'I have read every output of this transaction.');
  const bytes = Buffer.from(unsigned, 'hex');
  return {
    parts,
    marks: [...new Map(marks.map((mark) => [mark.text, mark])).values()],
    ...(consequence !== undefined && { consequence }),
    steps:
      paid.length < 2 ? [] : parties.map((sentence) => ({ sentence: say`send ${sentence}`, risk: 'ROUTINE' as const })),
    fields: [
      ...paid.map(({ address, value, scriptPubkey }) => ({
        label: 'Output',
        value: say`${address === '' ? scriptPubkey : { ...addressPart(address), text: address }} ${amountText(value, BTC)}`,
        kind: 'ADDRESS' as const,
        ...(address !== '' && { note: historyText(recipientOf(context, address), context.nowMs) }),
      })),
      { label: 'Fee', value: [{ text: amountText(transaction.fee, BTC) }], kind: 'AMOUNT' },
      { label: 'Inputs', value: say`${transaction.inputs.length}`, kind: 'TEXT' },
    ],
    sender: senderOf(context, signWith),
    recipients,
    // Each input has a digest of its own; what identifies the whole is the digest of the PSBT.
    bytes: { algorithm: 'sha-256', digest: `0x${toHex(sha256(bytes))}`, unsigned: `0x${toHex(bytes)}` },
  };
}
