import { type DragEvent, type ReactNode, useId, useRef, useState } from 'react';
import { cx } from '../lib/cx.ts';
import styles from './file-drop.module.css';
import { Icon } from './icon.tsx';
import { LinkButton } from './link-button.tsx';

export interface FileDropProps {
  /** Its heading: "Credentials". */
  readonly title: ReactNode;
  /** What to drop; `choose` is the link that opens the browser's dialog. */
  readonly text: (choose: ReactNode) => ReactNode;
  readonly chooseLabel?: string;
  /** Such as `.json,application/json`. */
  readonly accept?: string;
  readonly maxBytes?: number;
  readonly onText: (text: string, fileName: string) => void;
  readonly onError: (message: string) => void;
  /** Fields within the frame. */
  readonly children?: ReactNode;
}

const MAX_BYTES = 1_000_000;

/** A frame that takes a text file by drop or by choice. */
export function FileDrop(props: FileDropProps) {
  const {
    title,
    text,
    chooseLabel = 'choose the file',
    accept,
    maxBytes = MAX_BYTES,
    onText,
    onError,
    children,
  } = props;
  const [isOver, setIsOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const read = (file: File | undefined): void => {
    if (file === undefined) return;
    if (file.size > maxBytes) {
      onError(`${file.name} is too large to be this file.`);
      return;
    }
    file.text().then(
      (content) => onText(content, file.name),
      () => onError(`${file.name} cannot be read.`),
    );
  };
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setIsOver(false);
    read(event.dataTransfer.files[0]);
  };
  return (
    <section
      aria-labelledby={id}
      className={cx(styles.drop, isOver && styles.over)}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={onDrop}
    >
      <div className={styles.head}>
        <Icon name="file" size={20} />
        <div>
          <p id={id} className={styles.title}>
            {title}
          </p>
          <p className={styles.text}>
            {text(<LinkButton onClick={() => input.current?.click()}>{chooseLabel}</LinkButton>)}
          </p>
        </div>
      </div>
      <input
        ref={input}
        type="file"
        hidden
        accept={accept}
        onChange={(event) => {
          read(event.target.files?.[0]);
          // The same file may be chosen again, and the page keeps no hold on it.
          event.target.value = '';
        }}
      />
      {children}
    </section>
  );
}
