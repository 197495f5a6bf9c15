// Returns a picture as averages of blocks of 8 × 8 pixels, and for each channel the minimum and maximum of the average
// if the picture is shifted by up to one pixel. There are three bytes for each block; a block at the edge is the
// average of the pixels that it contains.
async (data) => {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  const picture = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const { width, height } = picture;
  const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  context.drawImage(picture, 0, 0);
  const pixels = context.getImageData(0, 0, width, height).data;
  const side = 8;
  const [wide, high] = [Math.ceil(width / side), Math.ceil(height / side)];
  const [mean, least, most] = [0, 255, 0].map((value) => new Uint8Array(wide * high * 3).fill(value));
  const within = (value, end) => Math.min(Math.max(value, 0), end - 1);
  const sums = new Uint32Array(width * 3);
  for (let row = 0; row < high; row++) {
    const lines = Math.min(side, height - row * side);
    for (const down of [-1, 0, 1]) {
      sums.fill(0);
      for (let line = 0; line < lines; line++) {
        let at = within(row * side + line + down, height) * width * 4;
        for (let to = 0; to < sums.length; to += 3, at += 4) {
          sums[to] += pixels[at];
          sums[to + 1] += pixels[at + 1];
          sums[to + 2] += pixels[at + 2];
        }
      }
      for (let column = 0; column < wide; column++) {
        const columns = Math.min(side, width - column * side);
        for (const right of [-1, 0, 1]) {
          for (let channel = 0; channel < 3; channel++) {
            let sum = 0;
            for (let x = 0; x < columns; x++) sum += sums[within(column * side + x + right, width) * 3 + channel];
            const value = Math.round(sum / (lines * columns));
            const to = (row * wide + column) * 3 + channel;
            if (down === 0 && right === 0) mean[to] = value;
            least[to] = Math.min(least[to], value);
            most[to] = Math.max(most[to], value);
          }
        }
      }
    }
  }
  const text = (values) => {
    let characters = "";
    for (let from = 0; from < values.length; from += 8192) characters += String.fromCharCode(...values.subarray(from, from + 8192));
    return btoa(characters);
  };
  return { wide, high, mean: text(mean), least: text(least), most: text(most) };
}
