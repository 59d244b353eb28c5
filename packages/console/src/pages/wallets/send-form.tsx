import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Place } from '../../api/chains.ts';
import { useWishDescription } from '../../api/describe.ts';
import { problemOf } from '../../api/problem.ts';
import { useSettledWish, useSimulation } from '../../api/simulation.ts';
import { useApi } from '../../api/use-api.ts';
import { useOffReason } from '../../app/off-reason.ts';
import { LookAlike } from '../../kit/address.tsx';
import { Amount } from '../../kit/amount.tsx';
import { Button, IconButton } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { ChainMark } from '../../kit/chain-mark.tsx';
import { ConsentDialog } from '../../kit/consent.tsx';
import { useDraft } from '../../kit/drafts.ts';
import { Fact, Facts } from '../../kit/facts.tsx';
import { TextField } from '../../kit/field.tsx';
import { LinkButton } from '../../kit/link-button.tsx';
import { Note } from '../../kit/note.tsx';
import { PolicyPreview, prospectOf } from '../../kit/policy-preview.tsx';
import { OutcomeNote, ProblemNote } from '../../kit/problem-note.tsx';
import { SameWithLink } from '../../kit/same-with.tsx';
import { Select } from '../../kit/select.tsx';
import { useAct } from '../../kit/use-act.ts';
import { formatUnits } from '../../lib/amounts.ts';
import { chainName, familyOf } from '../../lib/chains.ts';
import { accountName } from './accounts-card.tsx';
import { Recipient } from './recipient.tsx';
import styles from './send-form.module.css';
import { type Asset, checkAmount, checkRecipient, sendWish } from './send-form-model.ts';

export interface SendFormProps {
  readonly walletId: string;
  readonly places: readonly Place[];
  readonly place: Place;
  readonly onPlace: (key: string) => void;
  readonly onClose: () => void;
}

const INITIAL = { to: '', amount: '', asset: '' };

/** From, to, how much, and what policies would say to it before anything is asked. */
export function SendForm({ walletId, places, place, onPlace, onClose }: SendFormProps) {
  const { value, set, discard } = useDraft(`send ${walletId}`, INITIAL);
  const [isTried, setIsTried] = useState(false);
  const off = useOffReason();
  const caip2 = place.chain?.caip2 ?? '';
  const isSolana = caip2.startsWith('solana:');
  const assets = useAssets(place);
  const asset = assets.items.find(({ caip19 }) => caip19 === value.asset) ?? assets.items[0];
  const to = checkRecipient(value.to, caip2);
  const amount = asset === undefined ? undefined : checkAmount(value.amount, asset);
  const recipient = to !== undefined && 'address' in to ? to.address : undefined;
  const units = amount !== undefined && 'value' in amount ? amount.value : undefined;
  const wish =
    asset === undefined || recipient === undefined || units === undefined
      ? undefined
      : sendWish(place, asset, recipient, units);
  const forecast = useSimulation(wish);
  const description = useWishDescription(useSettledWish(wish));
  const history = description?.recipients.find(({ address }) => address.toLowerCase() === recipient?.toLowerCase());

  // That it is the first payment stands beside the recipient already.
  const marks = (description?.marks ?? []).map(({ text }) => text).filter((text) => !text.startsWith('first payment'));

  const method = isSolana ? 'solSendTransaction' : 'ethSendTransaction';
  const { submit, repeat, reset, outcome, isBusy, consent } = useAct(method, { current: wish?.parameters });
  const change = (edit: Partial<typeof INITIAL>): void => {
    set(edit);
    if (outcome !== undefined) reset();
  };
  const finish = async (work: ReturnType<typeof submit>): Promise<void> => {
    if ((await work).state === 'refused') return;
    discard();
    setIsTried(false);
  };
  const act = (): void => {
    setIsTried(true);
    if (wish !== undefined) void finish(submit(wish.parameters as never));
  };

  const prospect = forecast.simulation && prospectOf(forecast.simulation);
  const what =
    asset === undefined || units === undefined ? '' : ` ${formatUnits(units, asset.decimals)} ${asset.symbol}`;
  const asks = prospect === 'waits' || prospect === 'proof';
  const verb = asks ? `Ask to send${what}` : `Send${what}`;
  const stops =
    off ??
    (prospect === 'denied' ? 'Policies would deny it.' : undefined) ??
    (forecast.isChecking ? 'Asking policies.' : undefined);

  return (
    <Card title="Send" flush actions={<IconButton icon="cross" label="Close the form" onClick={onClose} />}>
      <form
        aria-label="Send"
        onSubmit={(event) => {
          event.preventDefault();
          if (!stops && !isBusy) act();
        }}
      >
        <div className={styles.fields}>
          <Select
            label="From"
            value={place.key}
            onChange={(key) => {
              onPlace(key);
              change({ asset: '' });
            }}
            options={places.map(({ key, account, chain }) => ({
              value: key,
              label: `${accountName(account)} on ${chainName(chain?.caip2 ?? '')}`,
              detail: account.path,
              mark: <ChainMark size="small" mark={familyOf(account.addressFormat).mark} />,
            }))}
          />
          <Recipient
            value={value.to}
            onChange={(next) => change({ to: next })}
            address={recipient}
            error={
              to !== undefined && 'error' in to
                ? to.error
                : isTried && to === undefined
                  ? 'Type or paste an address.'
                  : undefined
            }
            history={history}
          />
          {history?.lookAlike && recipient !== undefined && <LookAlike address={recipient} other={history.lookAlike} />}
          <div className={styles.amount}>
            <TextField
              label="Amount"
              inputMode="decimal"
              alignRight
              value={value.amount}
              onChange={(next) => change({ amount: next })}
              error={
                amount !== undefined && 'error' in amount
                  ? amount.error
                  : isTried && amount === undefined
                    ? 'Type an amount.'
                    : undefined
              }
            />
            <Select
              label="Asset"
              value={asset?.caip19}
              onChange={(caip19) => change({ asset: caip19 })}
              options={assets.items.map(({ caip19, symbol, isNative, balance, decimals }) => ({
                value: caip19,
                label: symbol,
                off: isSolana && !isNative,
                detail:
                  isSolana && !isNative
                    ? 'tokens of Solana by the SDK'
                    : balance === undefined
                      ? 'balance not read'
                      : `${formatUnits(balance, decimals)} here`,
              }))}
            />
          </div>
          {asset?.balance !== undefined && (
            <p className={styles.balance}>
              of <Amount value={asset.balance} decimals={asset.decimals} unit={asset.symbol} shape="decision" /> on this
              account
              {!asset.isNative && asset.balance > 0n && (
                <>
                  {' · '}
                  <LinkButton onClick={() => change({ amount: formatUnits(asset.balance ?? 0n, asset.decimals) })}>
                    all of it
                  </LinkButton>
                </>
              )}
            </p>
          )}
          {assets.error && <ProblemNote problem={problemOf(assets.error)} />}
          {isSolana && assets.items.length > 1 && (
            <Note tone="info" title="Only SOL can be sent here.">
              A transfer of a token needs the token accounts of both sides, which this page does not compute. Build it
              with <code>@solana/spl-token</code> and pass it to <code>client.solSendTransaction</code>.
            </Note>
          )}
        </div>
        <div className={styles.decision}>
          <PolicyPreview forecast={forecast} hint="Fill in recipient and amount to see it." />
          {marks.length > 0 && <p className={styles.marks}>{marks.join('; ')}</p>}
          {asset?.balance !== undefined && units !== undefined && (
            <Facts shape="sums">
              <Fact label="Leaves">
                <b>
                  <Amount
                    value={asset.balance - units}
                    decimals={asset.decimals}
                    unit={asset.symbol}
                    shape="decision"
                  />
                </b>
              </Fact>
              <Fact label="Network fee">
                {asset.isNative ? 'on top of it' : `in ${place.chain?.nativeAsset.symbol ?? ''}`}
              </Fact>
            </Facts>
          )}
          {outcome?.state === 'completed' ? (
            <Note tone="allow" role="status" title="It is on its way.">
              <Link to="/sends" search={{}}>
                Follow it
              </Link>
            </Note>
          ) : (
            <OutcomeNote outcome={outcome} onRepeat={() => void finish(repeat())} />
          )}
          <Button
            kind="ink"
            size="large"
            wide
            type="submit"
            icon={asks ? 'passkey' : 'send'}
            busy={isBusy && (asks ? 'Asking…' : 'Sending…')}
            off={wish === undefined ? false : stops}
            hideReason={forecast.isChecking}
          >
            {verb}
          </Button>
          <ConsentDialog consent={consent} act={verb} off={stops} icon={asks ? 'passkey' : 'send'} />
          {wish !== undefined && (
            <div>
              <SameWithLink method={method} parameters={wish.parameters} />
            </div>
          )}
        </div>
      </form>
    </Card>
  );
}

/** The native asset and the configured tokens, with what the account has of each. */
function useAssets({ account, chain }: Place): { readonly items: readonly Asset[]; readonly error: Error | null } {
  const caip2 = chain?.caip2 ?? '';
  const supported = useApi('listSupportedAssets', { caip2 }, { enabled: chain !== undefined });
  const held = useApi(
    'getWalletAddressBalances',
    { address: account.address, caip2 },
    { enabled: chain !== undefined },
  );
  const items = (supported.data?.assets ?? []).map(({ caip19, symbol, decimals }): Asset => {
    const found = held.data?.balances.find((one) => one.caip19.toLowerCase() === caip19.toLowerCase());
    const balance = held.data === undefined ? undefined : BigInt(found?.balance ?? '0');
    return { caip19, symbol, decimals, isNative: caip19 === chain?.nativeAsset.caip19, balance };
  });
  return { items, error: supported.error };
}
