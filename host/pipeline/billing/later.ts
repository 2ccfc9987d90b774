import type { LaterBooking } from '../../contract/index.ts';

/** An answer that its provider makes after the request is over, under an id; and what was booked for it until its usage is known. */
export class Later {
  readonly id: string;
  readonly bookings: LaterBooking[] = [];

  constructor(id: string) {
    this.id = id;
  }

  add(booking: LaterBooking): void {
    this.bookings.push(booking);
  }
}
