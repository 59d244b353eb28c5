import type { Activity } from '@custos/sdk';
import { useState } from 'react';
import { type ExactPiece, exactPieces, isDigestOf } from '../../api/exact-bytes.ts';
import type { Description } from '../../api/types.ts';
import type { VoteFindings } from '../../api/vote.ts';
import { Code } from '../../kit/code.tsx';
import { ExactBytesList } from '../../kit/exact-bytes-list.tsx';
import { Fact, Facts } from '../../kit/facts.tsx';
import { Hash } from '../../kit/hash.tsx';
import { Icon } from '../../kit/icon.tsx';
import { LinkButton } from '../../kit/link-button.tsx';
import { SameWith } from '../../kit/same-with.tsx';
import { shortHash } from '../../lib/addresses.ts';
import { DescribedFields } from './described-fields.tsx';
import { whyNotChecked } from './reading.ts';
import styles from './request.module.css';

export type Layer = 'fields' | 'bytes' | 'body' | 'result' | 'same';

export const LAYERS: readonly { readonly id: Layer; readonly label: string }[] = [
  { id: 'fields', label: 'Fields' },
  { id: 'bytes', label: 'Bytes' },
  { id: 'body', label: 'Raw body' },
  { id: 'same', label: 'As SDK, CLI, curl' },
];

export interface LayerProps {
  readonly activity: Activity;
  readonly description: Description;
  readonly checks: VoteFindings | undefined;
}

/** What is decided about, without anything between it and the eye. */
export function LayerContent({ layer, activity, description, checks }: LayerProps & { readonly layer: Layer }) {
  switch (layer) {
    case 'fields':
      return description.fields.length === 0 ? (
        <p className={styles.grey}>The service reads no fields out of this request. See the raw body.</p>
      ) : (
        <DescribedFields fields={description.fields} oneLine />
      );
    case 'bytes':
      return <Bytes activity={activity} description={description} checks={checks} />;
    case 'body':
      return <RawBody checks={checks} />;
    case 'result':
      return (
        <Code
          text={JSON.stringify(activity.result, undefined, 2)}
          language="json"
          copy="Copy the result"
          maxHeight={420}
        />
      );
    case 'same':
      return <SameAct activity={activity} />;
  }
}

function Bytes({ activity, description, checks }: LayerProps) {
  const { bytes, risk } = description;
  const pieces = exactPieces(description, checks?.request.body);
  return (
    <div className={styles.stack}>
      <Facts>
        {bytes !== undefined && (
          <Fact label={bytes.algorithm} note={digestNote(bytes, pieces)}>
            <Hash value={bytes.digest} what="digest" whole />
          </Fact>
        )}
        <Fact label="You sign" note={fingerprintNote(checks)}>
          <Hash value={activity.fingerprint} what="fingerprint" whole />
        </Fact>
      </Facts>
      <ExactBytesList pieces={pieces} isUnreadable={risk === 'UNREADABLE'} />
    </div>
  );
}

/** Who vouches for the digest to be signed. */
const digestNote = (bytes: NonNullable<Description['bytes']>, pieces: readonly ExactPiece[]): string =>
  isDigestOf(bytes, pieces)
    ? 'This browser computed it from the bytes below, and it is the same.'
    : 'Computed by the service, which vouches for it; this browser did not.';

/** Who vouches for the digest that an approval covers. */
function fingerprintNote(checks: VoteFindings | undefined): string {
  const covers = 'An approval covers this digest of the exact request, and so every byte of it.';
  switch (checks?.request.state) {
    case 'known':
      return `${covers} This browser computed it from the raw body, and it is the same.`;
    case 'contradicted':
      return 'The raw body has another digest than this one. Do not approve.';
    case 'not-checkable':
      return `${covers} Only the service vouches for it: ${whyNotChecked(checks.request) ?? ''}.`;
    default:
      return covers;
  }
}

function RawBody({ checks }: { readonly checks: VoteFindings | undefined }) {
  const { request } = checks ?? {};
  if (request?.body === undefined) return <p className={styles.grey}>The request of the first vote is not there.</p>;
  return (
    <>
      {request.state === 'not-checkable' && (
        <p className={styles.grey}>A secret is left out, so its signature cannot be checked against this text.</p>
      )}
      <Code text={request.body} language="json" copy="Copy the body" maxHeight={420} />
    </>
  );
}

/** Deciding, as a program does it. */
function SameAct({ activity }: { readonly activity: Activity }) {
  return (
    <div className={styles.stack}>
      <p className={styles.meta}>Approve</p>
      <SameWith method="approveActivity" parameters={{ fingerprint: activity.fingerprint }} />
      <p className={styles.meta}>Read</p>
      <SameWith method="getActivity" parameters={{ activityId: activity.id }} />
    </div>
  );
}

export interface LayersBarProps extends LayerProps {
  readonly open: Layer | undefined;
  readonly onOpen: (layer: Layer | undefined) => void;
}

/** One row with the digest, and each layer one click away. */
export function LayersBar({ open, onOpen, ...content }: LayersBarProps) {
  const { bytes } = content.description;
  const [panelId] = useState(() => `layer-${content.activity.id}`);
  return (
    <section className={styles.layers} aria-label="Exact request">
      <div className={styles.layersBar}>
        <Icon name="code" />
        <b>{bytes === undefined ? 'Exact request to be approved' : 'Exact bytes to be signed'}</b>
        <span className={styles.digest} title={bytes?.digest ?? content.activity.fingerprint}>
          {bytes === undefined
            ? `sha-256 ${shortHash(content.activity.fingerprint.replace(/^sha256:/, ''))}`
            : `${bytes.algorithm} ${shortHash(bytes.digest)}`}
        </span>
        <span className={styles.layersLinks}>
          {LAYERS.map(({ id, label }) => (
            <LinkButton
              key={id}
              aria-expanded={open === id}
              aria-controls={panelId}
              onClick={() => onOpen(open === id ? undefined : id)}
            >
              {label}
            </LinkButton>
          ))}
        </span>
      </div>
      <div id={panelId} className={styles.layerPanel} hidden={open === undefined}>
        {open !== undefined && <LayerContent layer={open} {...content} />}
      </div>
    </section>
  );
}
