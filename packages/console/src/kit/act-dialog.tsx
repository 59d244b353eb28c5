import type { ReactNode, RefObject } from 'react';
import type { ParametersOf } from '../api/use-api.ts';
import type { Outcome, SubmitMethod } from '../api/use-submit.ts';
import { useOffReason } from '../app/off-reason.ts';
import styles from './act-dialog.module.css';
import { Button } from './button.tsx';
import { ConsentBox } from './consent.tsx';
import { Dialog } from './dialog.tsx';
import { DialogFooter } from './dialog-footer.tsx';
import { OutcomeNote } from './problem-note.tsx';
import { SameWithLink } from './same-with.tsx';
import { useAct } from './use-act.ts';

export interface ActDialogProps<Method extends SubmitMethod> {
  readonly method: Method;
  readonly parameters: ParametersOf<Method>;
  readonly title: ReactNode;
  readonly description?: ReactNode;
  /** The name of the button, and its verb in progress. */
  readonly act: string;
  readonly acting: string;
  readonly kind?: 'ink' | 'danger';
  /** Say what follows from it before the click; dialogs without a form always do. */
  readonly isEager?: boolean;
  /** Why it cannot be sent yet. */
  readonly off?: string | false | undefined;
  readonly width?: 'small' | 'normal' | 'wide';
  readonly initialFocus?: RefObject<HTMLElement | null>;
  /** Shown once it is done; without it the dialog closes. */
  readonly done?: string;
  readonly onDone?: (outcome: Outcome<unknown>) => void;
  readonly onClose: () => void;
  readonly children?: ReactNode | ((outcome: Outcome<unknown> | undefined) => ReactNode);
}

/** One act with its form, the same in a program, and everything that can become of it. */
export function ActDialog<Method extends SubmitMethod>(props: ActDialogProps<Method>) {
  const { method, parameters, title, description, act, acting, kind = 'ink', children } = props;
  const { submit, repeat, outcome, isBusy, consent } = useAct(method, {
    current: props.off ? undefined : parameters,
    isEager: props.isEager ?? children === undefined,
  });
  const readOnly = useOffReason();
  const off = readOnly ?? (props.off || consent.off);
  const isOver = outcome?.state === 'waits' || (outcome?.state === 'completed' && props.done !== undefined);
  const finish = async (work: ReturnType<typeof submit>): Promise<void> => {
    const result = await work;
    if (result.state !== 'refused') props.onDone?.(result);
    if (result.state === 'completed' && props.done === undefined) props.onClose();
  };
  const send = (): void => {
    if (!off && !isBusy && !isOver) void finish(submit(parameters));
  };
  return (
    <Dialog
      open
      onClose={props.onClose}
      title={title}
      {...(description !== undefined && { description })}
      {...(props.width && { width: props.width })}
      {...(props.initialFocus && { initialFocus: props.initialFocus })}
      footer={
        <DialogFooter>
          <SameWithLink method={method} parameters={parameters} />
          <Button onClick={props.onClose}>{isOver ? 'Close' : 'Cancel'}</Button>
          {!isOver && (
            <Button
              kind={kind}
              {...(kind === 'danger' && { icon: 'trash' as const })}
              busy={isBusy && acting}
              off={off}
              onClick={send}
            >
              {act}
            </Button>
          )}
        </DialogFooter>
      }
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        {typeof children === 'function' ? children(outcome) : children}
        {!isOver && <ConsentBox consent={consent} />}
        <OutcomeNote
          outcome={outcome}
          {...(props.done && { done: props.done })}
          onRepeat={() => void finish(repeat())}
        />
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}
