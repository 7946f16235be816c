// A hand moves faster than a model computes. One question is on its way at a time; while it is, only the
// newest of the next ones is kept, and it goes as soon as the answer is there. So a drag never queues, and
// what it shows is as fresh as the model is quick. A question that no worker can answer now is asked again.
import { type ApiError, asApiError } from "../../api/errors";
import { pauseBefore, untilAnswered } from "../../api/retry";

export type Ask<In, Out> = (input: In, signal: AbortSignal) => Promise<Out>;

export interface Hears<In, Out> {
  onAnswer: (answer: Out, input: In) => void;
  onError: (error: ApiError, input: In) => void;
  /** Whether a question is on its way. */
  onBusy: (busy: boolean) => void;
}

export class Latest<In, Out> {
  private flight: AbortController | null = null;
  private next: { input: In } | null = null;
  private failures = 0;
  private readonly isAskedAgain = untilAnswered();
  private pause: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly ask: Ask<In, Out>,
    private readonly hears: Hears<In, Out>,
  ) {}

  /** Ask this next: at once, or when the question on its way is answered; whatever else waits is dropped. */
  want(input: In): void {
    clearTimeout(this.pause);
    this.next = { input };
    if (!this.flight) void this.go();
  }

  /** Forget the question on its way and what waits: nothing of it is heard any more. */
  drop(): void {
    clearTimeout(this.pause);
    this.failures = 0;
    this.next = null;
    if (!this.flight) return;
    this.flight.abort();
    this.flight = null;
    this.hears.onBusy(false);
  }

  private async go(): Promise<void> {
    const flight = new AbortController();
    this.flight = flight;
    this.hears.onBusy(true);
    while (this.next && this.flight === flight) {
      const { input } = this.next;
      this.next = null;
      try {
        const answer = await this.ask(input, flight.signal);
        if (this.flight === flight) this.answered(answer, input);
      } catch (error) {
        // What waits outdates the failure: it is asked, and may fail on its own account.
        if (this.flight === flight && !this.next) this.failed(error, input);
      }
    }
    if (this.flight !== flight) return;
    this.flight = null;
    this.hears.onBusy(false);
  }

  private answered(answer: Out, input: In): void {
    this.failures = 0;
    this.hears.onAnswer(answer, input);
  }

  private failed(thrown: unknown, input: In): void {
    const error = asApiError(thrown);
    this.hears.onError(error, input);
    const isAskedAgain = this.isAskedAgain(this.failures, error);
    this.failures += 1;
    if (isAskedAgain) this.askLater(input, pauseBefore(this.failures, error));
  }

  /** Nobody looks at a page that is hidden. */
  private askLater(input: In, ms: number): void {
    this.pause = setTimeout(() => {
      if (globalThis.document?.hidden) this.askLater(input, ms);
      else this.want(input);
    }, ms);
  }
}
