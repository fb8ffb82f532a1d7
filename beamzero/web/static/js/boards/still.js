// The methods of boards on which nothing can be clicked: their moves are buttons below them.

export class Still {
  constructor() {
    this.rows = [];
  }

  animate(before, after) {
    this.paint(after);
  }

  has() {
    return false;
  }

  pieceAt() {
    return null;
  }

  ghost() {
    return null;
  }

  resolve(place) {
    return place;
  }
}
