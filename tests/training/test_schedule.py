import pytest

from beamzero.training.settings import cosine, share_done


@pytest.mark.parametrize("final", [0.0, 0.05, 1.0])
def test_it_falls_from_1_to_the_final_share_and_is_symmetric_about_the_middle(final):
    shares = [cosine(share_done(i, 11), final) for i in range(11)]
    assert shares[0] == 1 and shares[-1] == pytest.approx(final)
    assert shares == sorted(shares, reverse=True)
    assert shares[5] == pytest.approx((1 + final) / 2)
    for one, other in zip(shares, reversed(shares), strict=True):
        assert one + other == pytest.approx(1 + final)


def test_a_longer_run_stays_at_the_end_and_a_run_of_one_iteration_begins_at_the_beginning():
    assert share_done(25, 11) == share_done(10, 11) == 1 and cosine(1.0, 0.3) == pytest.approx(0.3)
    assert share_done(0, 1) == 0 and cosine(0.0, 0.3) == 1
