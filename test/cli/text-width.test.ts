import { expect } from 'chai';
import { cutToWidth, padded, widthOf } from '../../host/cli/text-width.ts';

describe('the width of a text on a terminal', () => {
  it('counts columns: two for wide letters and emoji, none for marks and joiners', () => {
    // As string-width 8 and wcwidth 0.7 count them.
    const widths = {
      '': 0,
      plain: 5,
      modèle: 6,
      'e\u0301': 1,
      名前: 4,
      한국어: 6,
      ﾊﾝｶｸ: 4,
      ＦＵＬＬ: 8,
      '👩‍👩‍👧': 2,
      '👍🏽': 2,
      '🇩🇪': 2,
      '❤️': 2,
      '❤': 1,
      '1️⃣': 2,
      ไทย: 3,
      العربية: 7,
      'a\u200bb': 2,
      '█…─': 3,
      𠀀: 2,
      '☰': 2,
    };
    for (const [text, width] of Object.entries(widths)) expect(widthOf(text), JSON.stringify(text)).to.equal(width);
  });

  it('fills up and cuts by columns, and never in the middle of a character', () => {
    expect(padded('名', 4)).to.equal('名  ');
    expect(padded('名前', 3)).to.equal('名前');
    for (const [text, width, cut] of [
      ['名前です', 8, '名前です'],
      ['名前です', 7, '名前で…'],
      ['名前です', 6, '名前…'],
      ['👩‍👩‍👧👍🏽x', 4, '👩‍👩‍👧…'],
      ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
      ['abc', 1, '…'],
    ] as const) {
      expect(cutToWidth(text, width), `${text} in ${width}`).to.equal(cut);
      expect(widthOf(cutToWidth(text, width))).to.be.at.most(width);
    }
  });
});
